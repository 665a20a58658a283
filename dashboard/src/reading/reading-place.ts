/**
 * Keeps the reading position in a page that grows and shrinks: at the end, which is followed, or at an element, which
 * keeps its distance from the top of the window whatever is inserted before or after it. Readable elements are marked
 * with `data-place`. Never moves a page that nobody has scrolled and that was not asked to follow.
 */

/** What the bar over a conversation covers at the top of the scroller. */
const INSET_PX = 56;
/** This close to the end counts as the end. */
const END_PX = 60;

interface Anchor {
  key: string;
  /** Its distance from the top of the window: a banner above the scroller must not move it either. */
  top: number;
}

export class ReadingPlace {
  /** Where an element that is not rendered would start in the scroller's content; null if unknown. */
  locate: (key: string) => number | null = () => null;
  /** Whether the reader last scrolled towards the beginning. */
  isGoingUp = false;
  readonly #scroller: HTMLElement;
  #isAtEnd = false;
  #anchor: Anchor | null = null;
  /** The scroller's values when it was last checked. */
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

  /** Call when the scroller has moved, for whatever reason. */
  look(): void {
    const { scrollTop, scrollHeight, clientHeight } = this.#scroller;
    // The echo of our own movement.
    if (Math.abs(scrollTop - this.#seenTop) < 1) return;
    this.isGoingUp = scrollTop < this.#seenTop;
    this.#seenTop = scrollTop;
    // Content that has grown since it was followed does not mean that the reader moved.
    if (scrollHeight - scrollTop - clientHeight < END_PX) this.#isAtEnd = true;
    else if (this.isGoingUp) this.#isAtEnd = false;
    this.#anchor = scrollTop > 0 ? this.#firstInView() : null;
  }

  /** Call after the layout may have changed and before it is painted: restores the reading position. */
  settle(): void {
    const { scrollTop, scrollHeight, clientHeight } = this.#scroller;
    // The reader scrolled and the event is still to come. At the very end it may have been the browser, for lack of
    // content.
    const isMoved = Math.abs(scrollTop - this.#seenTop) > 1 && scrollTop < scrollHeight - clientHeight - 1;
    if (isMoved) this.look();
    else if (this.#isAtEnd) this.#moveTo(scrollHeight - clientHeight);
    else if (this.#anchor !== null) {
      const top = this.#topOf(this.#anchor.key);
      if (top !== null) this.#moveTo(scrollTop + top - this.#anchor.top);
    } else if (scrollTop > 0) {
      // After a long jump nothing was rendered there yet.
      this.#anchor = this.#firstInView();
    }
  }

  /** Stays with what is at the top of the window now, even at the very beginning or end. */
  hold(): void {
    this.#isAtEnd = false;
    this.#anchor = this.#firstInView();
  }

  /** Keeps no position until the next scroll: what was read is no longer shown. */
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

  /** Goes to an element, which may not be rendered yet. */
  goTo(key: string): void {
    this.#isAtEnd = false;
    this.#anchor = { key, top: this.#scroller.getBoundingClientRect().top + INSET_PX };
    this.#seenTop = this.#scroller.scrollTop;
    this.settle();
  }

  /** Focuses an element once it is rendered. */
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
