import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import type { ApiError } from '../api/client.ts'
import { ProblemNote } from './messages.tsx'

interface ConfirmParts {
  title: string
  /** The word on the button, such as `Cancel 3 runs`. */
  action: string
  isDangerous?: boolean
  /** True: without a reason the button does nothing. Default false. */
  isReasonNeeded?: boolean
  /** False: what it would do is not known yet, and the button waits. Default true. */
  isReady?: boolean
  children?: ReactNode
  /** Beside the buttons, such as the command that does the same. */
  beside?: ReactNode
  onClose: () => void
  /** Performs it; the dialog closes when it resolves and shows the problem when it rejects. */
  perform: (reason: string | undefined) => Promise<unknown>
}

/** A dialog that says what will happen, and asks for a reason, which the audit log keeps. */
export function Confirm(parts: ConfirmParts) {
  const {
    title,
    action,
    isDangerous = false,
    isReasonNeeded = false,
    isReady = true,
    children,
    beside,
    onClose,
    perform,
  } = parts
  const dialog = useRef<HTMLDialogElement>(null)
  const [reason, setReason] = useState('')
  const [error, setError] = useState<ApiError | null>(null)
  const [isBusy, setBusy] = useState(false)
  useEffect(() => dialog.current?.showModal(), [])
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    try {
      await perform(reason.trim() || undefined)
      onClose()
    } catch (problem) {
      setError(problem as ApiError)
      setBusy(false)
    }
  }
  return (
    <dialog ref={dialog} onClose={onClose} aria-labelledby="confirm-title">
      <form className="form" onSubmit={submit}>
        <h2 id="confirm-title">{title}</h2>
        {children}
        <label>
          <span>
            Reason <span className="quiet">kept in the audit log</span>
          </span>
          <input
            value={reason}
            maxLength={500}
            required={isReasonNeeded}
            onChange={(event) => setReason(event.target.value)}
          />
        </label>
        {error && <ProblemNote error={error} />}
        <div className="row">
          <button type="submit" className={isDangerous ? 'danger' : 'main'} disabled={isBusy || !isReady}>
            {action}
          </button>
          <button type="button" className="plain" onClick={onClose}>
            Back
          </button>
          {beside && <span className="push">{beside}</span>}
        </div>
      </form>
    </dialog>
  )
}
