import { useEffect, useRef } from 'react'

/** A secret that nobody sees again after this dialog. */
export function SecretOnce({ secret, onClose }: { secret: string; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog ref={dialog} onClose={onClose} aria-labelledby="secret-title">
      <div className="stack">
        <h2 id="secret-title">The secret, shown once</h2>
        <p>Give it to the service as the secret of this webhook. Upshot keeps it sealed and shows it never again.</p>
        <pre>{secret}</pre>
        <div className="row">
          <button type="button" className="main" onClick={() => navigator.clipboard.writeText(secret)}>
            Copy
          </button>
          <button type="button" onClick={onClose}>
            I have it
          </button>
        </div>
      </div>
    </dialog>
  )
}
