/**
 * Keeps a part that cannot be rendered from blanking the rest: shows an error in its place. A new `resetKey` tries
 * again.
 */
import { Component, type ReactNode } from "react";
import { FailureNote } from "./failure-note.tsx";

interface ErrorBoundaryProps {
  title: string;
  resetKey?: string;
  children: ReactNode;
}

export class ErrorBoundary extends Component<ErrorBoundaryProps, { failure: unknown; hasFailed: boolean }> {
  override state = { failure: null, hasFailed: false };

  static getDerivedStateFromError(failure: unknown) {
    return { failure, hasFailed: true };
  }

  override componentDidUpdate(previous: ErrorBoundaryProps) {
    if (this.state.hasFailed && previous.resetKey !== this.props.resetKey) this.retry();
  }

  readonly retry = () => this.setState({ failure: null, hasFailed: false });

  override render() {
    if (!this.state.hasFailed) return this.props.children;
    return <FailureNote title={this.props.title} failure={this.state.failure} onRetry={this.retry} />;
  }
}
