import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import type { AnswerOf, InputOf, RouteName } from '../../admin/contract/routes.ts'
import type { ApiError } from '../api/api-error.ts'
import { useAction } from '../api/use-api.ts'
import { useDialogs } from '../state/dialogs.tsx'
import { useToasts } from '../state/toasts.tsx'
import { CopyAs, copyText } from './copy-as.tsx'
import { Fields } from './fields.tsx'
import { ProblemNote } from './messages.tsx'
import { type Field, readFields, type Texts } from './read-fields.ts'

interface Button {
  /** The word on the button, such as `Pause…`. */
  label: string
  /** Name of the button for a screen reader, where many have the same word. */
  about?: string
  look?: 'main' | 'danger' | 'plain' | 'danger plain' | undefined
  /** The single key that presses it. */
  hotkey?: string
  isDisabled?: boolean
}

function ActButton({ of, onClick }: { of: Button; onClick: () => void }) {
  const { label, about, look, hotkey, isDisabled } = of
  return (
    <button type="button" className={look} disabled={isDisabled} aria-label={about} data-key={hotkey} onClick={onClick}>
      {label}
    </button>
  )
}

interface NowParts<Name extends RouteName> extends Button {
  to: Name
  input: InputOf<Name>
  /** Words of the toast that follows, and whether they are bad news. */
  tell?: (answer: AnswerOf<Name>) => readonly [words: string, isBad?: boolean]
}

/** A button that performs an operation at once. */
export function ActNow<Name extends RouteName>({ to, input, tell, ...button }: NowParts<Name>) {
  const toast = useToasts()
  const act = useAction(to)
  const perform = () =>
    act.mutateAsync(input).then(
      (answer) => tell && toast(...tell(answer)),
      (error: ApiError) => toast(error.message, true),
    )
  return <ActButton of={{ ...button, isDisabled: act.isPending }} onClick={() => void perform()} />
}

/** The input of an operation without its reason. */
interface Given<Name extends RouteName> {
  params?: InputOf<Name> extends { params: infer Params } ? Params : never
  query?: object
  body?: InputOf<Name> extends { body: infer Body } ? Partial<Body> : never
}

interface ActParts<Name extends RouteName> {
  title: string
  /** The word on the button that does it, such as `Cancel 3 runs`. */
  action: string
  isDangerous?: boolean
  /** True: without a reason it does nothing. Default false. */
  isReasonNeeded?: boolean
  /** False: what it would do is not known yet, and the button waits. Default true. */
  isReady?: boolean
  to: Name
  /** The input beside the reason; a function makes it of the values of the fields. */
  given?: Given<Name> | ((values: Record<string, unknown>, reason: string | undefined) => Given<Name>)
  fields?: readonly Field[] | ((texts: Texts) => readonly Field[])
  /** Does it otherwise than by a call of the operation. */
  perform?: (input: InputOf<Name>) => Promise<AnswerOf<Name>>
  /** The question that it changes; default: every one on the page. */
  changed?: RouteName
  /** Says in the dialog what will happen. A function gets the texts of its fields. */
  children?: ReactNode | ((texts: Texts) => ReactNode)
  /** The command that does the same. */
  cli?: string | ((values: Record<string, unknown>) => string)
  /** Follows the act: words are a toast, and an element takes the place of the form. */
  // biome-ignore lint/suspicious/noConfusingVoidType: most follow by nothing
  then?: (answer: AnswerOf<Name>, input: InputOf<Name>) => ReactNode | void
}

/** A button with the dialog that it opens, which says what will happen and performs an operation. */
export function Act<Name extends RouteName>(parts: ActParts<Name> & Button) {
  const open = useDialogs()
  return <ActButton of={parts} onClick={() => open((close) => <ActDialog {...parts} onClose={close} />)} />
}

/**
 * The dialog of an act, with a reason, which the audit log keeps. It waits for the answer, which may
 * be a secret; where the person has left the page meanwhile, a toast tells the answer.
 */
export function ActDialog<Name extends RouteName>(parts: ActParts<Name> & { onClose: () => void }) {
  const {
    title,
    action,
    isDangerous = false,
    isReasonNeeded = false,
    isReady = true,
    to,
    changed,
    perform,
    then,
    onClose,
  } = parts
  const dialog = useRef<HTMLDialogElement>(null)
  const act = useAction(to, changed, perform)
  const toast = useToasts()
  const [texts, setTexts] = useState<Texts>({})
  const [reason, setReason] = useState('')
  const [error, setError] = useState<ApiError | null>(null)
  const [after, setAfter] = useState<ReactNode>(null)
  // At once, which the state of a question is not: nothing is sent twice.
  const isSent = useRef(false)
  useEffect(() => dialog.current?.showModal(), [])
  // The focus goes back to where it was, which an element that is only taken away does not do.
  const close = () => dialog.current?.close()
  const fields = typeof parts.fields === 'function' ? parts.fields(texts) : (parts.fields ?? [])
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (isSent.current) return
    isSent.current = true
    try {
      const input = inputOf(parts, readFields(fields, texts), reason.trim() || undefined)
      const answer = await act.mutateAsync(input)
      isSent.current = false
      if (dialog.current === null) return toast(`${action}: done.`)
      const next = then?.(answer, input)
      if (typeof next === 'string') toast(next)
      if (typeof next === 'object' && next !== null) setAfter(next)
      else close()
    } catch (problem) {
      isSent.current = false
      if (dialog.current === null) toast(`${action}: ${(problem as ApiError).message}`, true)
      setError(problem as ApiError)
    }
  }
  return (
    <dialog
      ref={dialog}
      onCancel={(event) => isSent.current && event.preventDefault()}
      onClose={() => (isSent.current ? dialog.current?.showModal() : onClose())}
      aria-labelledby="act-title"
    >
      {after ?? (
        <form className="form" onSubmit={submit}>
          <h2 id="act-title">{title}</h2>
          {typeof parts.children === 'function' ? parts.children(texts) : parts.children}
          <Fields fields={fields} texts={texts} set={setTexts} />
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
            <button type="submit" className={isDangerous ? 'danger' : 'main'} disabled={act.isPending || !isReady}>
              {action}
            </button>
            <button type="button" className="plain" disabled={act.isPending} onClick={close}>
              Back
            </button>
            <Command parts={parts} fields={fields} texts={texts} />
          </div>
        </form>
      )}
    </dialog>
  )
}

interface CommandParts<Name extends RouteName> {
  parts: ActParts<Name>
  fields: readonly Field[]
  texts: Texts
}

function Command<Name extends RouteName>({ parts, fields, texts }: CommandParts<Name>) {
  const { cli, to } = parts
  const values = valuesOrNone(fields, texts)
  if (cli === undefined || values === null) return null
  return (
    <span className="push">
      <CopyAs cli={typeof cli === 'string' ? cli : cli(values)} to={to} input={inputOf(parts, values, undefined)} />
    </span>
  )
}

/** Null while a text is no value. */
function valuesOrNone(fields: readonly Field[], texts: Texts): Record<string, unknown> | null {
  try {
    return readFields(fields, texts)
  } catch {
    return null
  }
}

/** The reason of a DELETE is in its query, and that of any other act in its body. */
function inputOf<Name extends RouteName>(
  { to, given }: Pick<ActParts<Name>, 'to' | 'given'>,
  values: Record<string, unknown>,
  reason: string | undefined,
): InputOf<Name> {
  const { params, query, body } = typeof given === 'function' ? given(values, reason) : (given ?? {})
  const own = typeof given === 'function' ? {} : values
  if (to.startsWith('DELETE')) return { params, query: { ...query, ...own, reason } } as never
  return { params, query, body: { ...body, ...own, reason } } as never
}

interface SecretParts {
  secret: string | null
  /** Says what it is for. Default: the secret of a webhook. */
  children?: ReactNode
  onClose?: () => void
}

const FOR_WEBHOOK = 'Give it to the service as the secret of this webhook.'

/** A secret that nobody sees again after this dialog. */
export function SecretOnce({ secret, children = FOR_WEBHOOK, onClose }: SecretParts) {
  const [said, setSaid] = useState('')
  const copy = () =>
    copyText(secret ?? '').then(
      () => setSaid('Copied.'),
      () => setSaid('The browser copies nothing: select it above.'),
    )
  return (
    <div className="stack">
      <h2 id="act-title">The secret, shown once</h2>
      <p>{children} Upshot never shows it again.</p>
      <pre>{secret}</pre>
      <form method="dialog" className="row" onSubmit={onClose}>
        <button type="button" className="main" onClick={copy}>
          Copy
        </button>
        <button type="submit">I have it</button>
        <span className="quiet" role="status">
          {said}
        </span>
      </form>
    </div>
  )
}
