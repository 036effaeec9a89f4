import { hash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { describeError } from '../../core/errors.ts'
import { type HookRecord, type HookState, stateOf } from '../../core/incoming/hook.ts'
import { isPlainObject, type JsonValue } from '../../core/json.ts'
import type { Publish } from '../../core/notices.ts'
import type { Clock } from '../../core/time.ts'
import type { Reception } from '../accept-delivery.ts'
import type { IntakeLimit } from '../limits/intake-limit.ts'

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:36rem;margin:4rem auto;padding:0 1rem}
label{display:block;margin:1rem 0}input,select{font:inherit;display:block;width:100%;padding:.4rem}
button{font:inherit;padding:.5rem 1.2rem;margin:1rem .5rem 0 0}`

/** For pages that hold a question and a form, run no script and tell nobody of their address. */
export const PAGE_HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy':
    `default-src 'none'; style-src 'sha256-${hash('sha256', STYLE, 'base64')}'; form-action 'self'; ` +
    `base-uri 'none'; frame-ancestors 'none'`,
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Robots-Tag': 'noindex',
  'Cache-Control': 'no-store',
}

/** A page and its status. It says what is asked; only its button answers. */
interface CallbackPage {
  status: number
  html: string
}

const UNKNOWN: CallbackPage = { status: 404, html: page('Unknown address', 'Nobody waits for an answer here.') }

const OVER: Record<Exclude<HookState, 'open'>, string> = {
  answered: 'This question has its answer.',
  expired: 'The time for an answer is over.',
  ended: 'Nobody waits for this answer any more.',
}

/** The page of a hook, for a person who opens its URL; null: there is no such hook. */
function showHook(hook: HookRecord | null, now: number): CallbackPage {
  if (hook === null) return UNKNOWN
  const state = stateOf(hook, now)
  const title = hook.ask ?? 'A program waits here'
  if (state !== 'open') return { status: 410, html: page(title, OVER[state]) }
  const fields = hook.ask === null || hook.isSigned ? null : listFields(hook.data)
  if (fields === null)
    return {
      status: 200,
      html: page(title, 'This address takes the answer of a program, by POST. There is nothing to do.'),
    }
  return { status: 200, html: page(title, null, form(fields)) }
}

/** The page after the button was pressed. */
export function describeOutcome({ verdict, complaint }: Pick<Reception, 'verdict' | 'complaint'>): string {
  if (verdict === 'accepted' || verdict === 'duplicate') return page('Thank you', 'Your answer was taken.')
  return page('The answer was not taken', complaint?.message ?? REASONS[verdict] ?? 'Try again later.')
}

const REASONS: { [Verdict in Reception['verdict']]?: string } = {
  answered: 'There is another answer already.',
  closed: OVER.ended,
  unknown_hook: 'Nobody waits for an answer here.',
  too_large: 'It is too large.',
  bad_signature: 'It must be signed.',
}

/** One choice is a row of buttons. */
function form(fields: readonly FormField[]): string {
  const [only, ...others] = fields
  if (only?.choices && others.length === 0) {
    const buttons = only.choices.map((choice) => button(choice, ` name="${quote(only.name)}" value="${quote(choice)}"`))
    return `<form method="post">${buttons.join('')}</form>`
  }
  return `<form method="post">${fields.map(input).join('')}${button('Answer')}</form>`
}

function input({ name, label, choices, type, isRequired }: FormField): string {
  const attributes = ` name="${quote(name)}"${isRequired ? ' required' : ''}`
  const none = isRequired ? '' : '<option></option>'
  const options = choices?.map((choice) => `<option>${quote(choice)}</option>`).join('')
  const control = choices
    ? `<select${attributes}>${none}${options}</select>`
    : `<input${attributes} type="${type}"${type === 'number' ? ' step="any"' : ''}>`
  return `<label>${quote(label)}${control}</label>`
}

function button(text: string, attributes = ''): string {
  return `<button${attributes}>${quote(text)}</button>`
}

function page(title: string, text: string | null, rest = ''): string {
  const words = text === null ? '' : `<p>${quote(text)}</p>`
  return (
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${quote(title)}</title>` +
    `<meta name="viewport" content="width=device-width"><style>${STYLE}</style></head>` +
    `<body><h1>${quote(title)}</h1>${words}${rest}</body></html>`
  )
}

const SIGNS: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function quote(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => SIGNS[sign] ?? sign)
}

interface FormField {
  name: string
  label: string
  /** The values to choose from; null: any text or number. */
  choices: readonly string[] | null
  type: 'text' | 'number'
  isRequired: boolean
}

/** The name of the field for an answer that is no object. */
export const ONLY_FIELD = 'answer'

/** The type that a JSON Schema names; null where it names none, or several. */
export function typeOf(schema: unknown): string | null {
  return isPlainObject(schema) && typeof schema.type === 'string' ? schema.type : null
}

/** The fields of an answer; null where a form cannot ask for it. */
function listFields(schema: JsonValue): FormField[] | null {
  if (!isPlainObject(schema)) return []
  if (typeOf(schema) !== 'object') {
    const field = readField(ONLY_FIELD, schema, true)
    return field && [field]
  }
  const required = Array.isArray(schema.required) ? schema.required : []
  const properties = Object.entries(isPlainObject(schema.properties) ? schema.properties : {})
  const fields = properties.map(([name, property]) => ({
    isRequired: required.includes(name),
    field: readField(name, property, required.includes(name)),
  }))
  if (fields.some(({ field, isRequired }) => field === null && isRequired)) return null
  return fields.flatMap(({ field }) => field ?? [])
}

function readField(name: string, schema: unknown, isRequired: boolean): FormField | null {
  if (!isPlainObject(schema)) return null
  const label = typeof schema.description === 'string' ? schema.description : name
  const field = { name, label, isRequired, type: 'text', choices: null } as const
  const type = typeOf(schema)
  if (type === 'boolean') return { ...field, choices: ['true', 'false'] }
  const choices = Array.isArray(schema.enum) ? schema.enum : 'const' in schema ? [schema.const] : null
  if (choices?.every((choice) => typeof choice === 'string')) return { ...field, choices }
  if (choices !== null) return null
  if (type === 'number' || type === 'integer') return { ...field, type: 'number' }
  return type === 'string' ? field : null
}

interface PageParts {
  find: (token: string) => Promise<HookRecord | null>
  intakeLimit: IntakeLimit
  clock: Clock
  publish: Publish
}

/** Shows what a hook asks. A visit changes nothing, so that a mail scanner's decides nothing. */
export async function showPage(
  { find, intakeLimit, clock, publish }: PageParts,
  { request, response, token }: { request: IncomingMessage; response: ServerResponse; token: string },
): Promise<void> {
  const now = clock.now()
  const send = ({ status, html }: CallbackPage) => {
    response.writeHead(status, { ...PAGE_HEADERS, 'Content-Length': Buffer.byteLength(html) })
    response.end(request.method === 'HEAD' ? undefined : html)
  }
  try {
    if (intakeLimit.admit(request.socket.remoteAddress, now) !== null) return send(BUSY)
    const hook = await find(token)
    send(intakeLimit.admitTo(hook?.id, now) === null ? showHook(hook, now) : BUSY)
  } catch (error) {
    publish({ kind: 'fault', where: 'the page of a callback', error: describeError(error) })
    send(BUSY)
  }
}

const BUSY: CallbackPage = { status: 503, html: '<!doctype html><title>Busy</title><p>Try again in a moment.</p>' }
