/**
 * Where a person reads in a page that grows and shrinks around them: at the end, which is followed, or at some element,
 * which keeps its distance from the top of the window whatever is put in before or after it. What can be read is marked with
 * `data-place`. Never moves a page that nobody has scrolled and that was not asked to follow.
 */

/** What the bar over a conversation covers at the top of the scroller. */
const INSET_PX = 56;
/** So near to the end counts as the end. */
const END_PX = 60;

interface Anchor {
  key: string;
  /** Its distance from the top of the window: a banner over the scroller must not move it either. */
  top: number;
}

export class ReadingPlace {
  /** Where an element that is not drawn would begin, in the scroller's content; null where it is unknown. */
  locate: (key: string) => number | null = () => null;
  /** Whether a person last scrolled towards the beginning. */
  isGoingUp = false;
  readonly #scroller: HTMLElement;
  #isAtEnd = false;
  #anchor: Anchor | null = null;
  /** What the scroller said when it was last looked at. */
  #seenTop: number;

  constructor(scroller: HTMLElement) {
    this.#scroller = scroller;
    this.#seenTop = scroller.scrollTop;
  }

  get isAtEnd(): boolean {
    return this.#isAtEnd;
  }

  /** The element at the top of the window, or null. */
  get key(): string | null {
    return this.#anchor?.key ?? this.#firstInView()?.key ?? null;
  }

  /** Call when the scroller has moved, by whatever means. */
  look(): void {
    const { scrollTop, scrollHeight, clientHeight } = this.#scroller;
    // The echo of a move of our own.
    if (Math.abs(scrollTop - this.#seenTop) < 1) return;
    this.isGoingUp = scrollTop < this.#seenTop;
    this.#seenTop = scrollTop;
    // Content that has grown since it was followed is no movement of a person.
    if (scrollHeight - scrollTop - clientHeight < END_PX) this.#isAtEnd = true;
    else if (this.isGoingUp) this.#isAtEnd = false;
    this.#anchor = scrollTop > 0 ? this.#firstInView() : null;
  }

  /** Call after the layout may have changed, before it is painted: puts the person back where they read. */
  settle(): void {
    const { scrollTop, scrollHeight, clientHeight } = this.#scroller;
    // Somebody scrolled and the event is still to come. At the very end it may have been the browser, for lack of content.
    const isMoved = Math.abs(scrollTop - this.#seenTop) > 1 && scrollTop < scrollHeight - clientHeight - 1;
    if (isMoved) this.look();
    else if (this.#isAtEnd) this.#moveTo(scrollHeight - clientHeight);
    else if (this.#anchor !== null) {
      const top = this.#topOf(this.#anchor.key);
      if (top !== null) this.#moveTo(scrollTop + top - this.#anchor.top);
    } else if (scrollTop > 0) {
      // After a long way nothing was drawn there yet.
      this.#anchor = this.#firstInView();
    }
  }

  /** Stays with what is at the top of the window now, also at the very beginning and at the end. */
  hold(): void {
    this.#isAtEnd = false;
    this.#anchor = this.#firstInView();
  }

  /** Holds nothing until the next scroll: what was read is not shown any more. */
  release(): void {
    this.#isAtEnd = false;
    this.#anchor = null;
    this.#seenTop = this.#scroller.scrollTop;
  }

  /** Goes to the end and follows it. */
  goToEnd(): void {
    this.#isAtEnd = true;
    this.#seenTop = this.#scroller.scrollTop;
    this.settle();
  }

  /** Goes to an element, which may not be drawn yet. */
  goTo(key: string): void {
    this.#isAtEnd = false;
    this.#anchor = { key, top: this.#scroller.getBoundingClientRect().top + INSET_PX };
    this.#seenTop = this.#scroller.scrollTop;
    this.settle();
  }

  /** Gives the focus to an element once it is drawn. */
  focus(key: string, tries = 10): void {
    const element = this.#scroller.querySelector<HTMLElement>(`[data-place="${CSS.escape(key)}"]`);
    if (element) element.focus({ preventScroll: true });
    else if (tries > 0) requestAnimationFrame(() => this.focus(key, tries - 1));
  }

  #moveTo(top: number): void {
    if (Math.abs(this.#scroller.scrollTop - top) >= 1) this.#scroller.scrollTop = top;
    this.#seenTop = this.#scroller.scrollTop;
  }

  #topOf(key: string): number | null {
    const element = this.#scroller.querySelector(`[data-place="${CSS.escape(key)}"]`);
    if (element) return element.getBoundingClientRect().top;
    const start = this.locate(key);
    if (start === null) return null;
    return this.#scroller.getBoundingClientRect().top + start - this.#scroller.scrollTop;
  }

  #firstInView(): Anchor | null {
    const { top, bottom } = this.#scroller.getBoundingClientRect();
    for (const element of this.#scroller.querySelectorAll<HTMLElement>("[data-place]")) {
      const box = element.getBoundingClientRect();
      if (box.bottom > top + INSET_PX + 1 && box.top < bottom)
        return { key: element.dataset.place ?? "", top: box.top };
    }
    return null;
  }
}
