import { Component, type ReactNode } from 'react'

/** A page whose code fails to load or to run. The navigation stays, and leads to other pages. */
export class PageFault extends Component<{ children: ReactNode }, { error: Error | null }> {
  override state: { error: Error | null } = { error: null }

  static getDerivedStateFromError(error: Error) {
    return { error }
  }

  override render() {
    const { error } = this.state
    if (!error) return this.props.children
    return (
      <div className="stack">
        <h1>This page has failed</h1>
        <div className="problem" role="alert">
          <strong>The code of this page could not be loaded, or has failed.</strong>
          <p>{error.message}</p>
          <p className="quiet">Reload it: the app may have been updated since this tab was opened.</p>
        </div>
        <div>
          <button type="button" className="main" onClick={() => location.reload()}>
            Reload
          </button>
        </div>
      </div>
    )
  }
}
