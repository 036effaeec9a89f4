import { createHmac, timingSafeEqual } from 'node:crypto'
import { deriveEventId, deriveId, spellBytes } from '../ids.ts'
import type { JsonValue } from '../json.ts'
import { isoTime } from '../time.ts'
import type { DeliveryFacts } from './delivery.ts'
import type { SignatureScheme } from './signature.ts'

/** Type of the event that each answer of a hook is. */
export const HOOK_ANSWERED = 'upshot.hook.answered'

/** A callback URL that one run waits at. Moments are epoch milliseconds. */
export interface Hook {
  /** `hok_…`; the first part of its token. */
  id: string
  runId: string
  /** Key of the step that opened it. */
  step: string
  account: string
  /** The question for people who open the URL; null: it is for a program. */
  ask: string | null
  /** JSON Schema of an answer; null: any JSON will do. */
  data: JsonValue
  /** True: it takes any number of answers. */
  isMany: boolean
  sign: { scheme: SignatureScheme; secret: string } | null
  openedAt: number
  /** It takes answers before this moment. */
  expiresAt: number
}

/** A hook, with what has become of it. It holds no secret. */
export interface HookRecord extends Omit<Hook, 'sign'> {
  isSigned: boolean
  answers: number
  /** False once every run that has its step has ended. */
  isAwaited: boolean
}

export type HookState = 'open' | 'answered' | 'expired' | 'ended'

export function stateOf(hook: Pick<HookRecord, 'answers' | 'isAwaited' | 'isMany' | 'expiresAt'>, now: number) {
  if (hook.answers > 0 && !hook.isMany) return 'answered'
  if (!hook.isAwaited) return 'ended'
  return (now < hook.expiresAt ? 'open' : 'expired') satisfies HookState
}

/** An answer that fits its hook, ready to be saved: of a delivery, or of a person. */
export interface HookAnswer {
  hook: string
  /** Id of the delivery that brought it; null for the word of a person. */
  delivery: string | null
  /** Name of that person; null: the answer came to the URL. */
  by: string | null
  /** JSON text. */
  data: string
  /** Equal for repetitions of one answer. */
  sameness: string
  receivedAt: number
  bodyBytes: number
  facts: DeliveryFacts
}

/** The store's answer to an answer. `answered`: it has another one; `closed`: it takes none. */
export interface HookReceipt {
  verdict: 'accepted' | 'duplicate' | 'answered' | 'closed' | 'unknown_hook'
  event: { id: string; type: string; account: string } | null
  /** Waits that it has ended. */
  resolved: number
}

/** The event of an answer. A hook that takes one only has one such id. */
export function planHookEvent(
  { id: hook, runId: run, step, account, isMany }: Pick<Hook, 'id' | 'runId' | 'step' | 'account' | 'isMany'>,
  { delivery, by, data, receivedAt, sameness }: HookAnswer,
) {
  const id = isMany ? deriveEventId(hook, sameness) : deriveEventId(hook)
  const head = JSON.stringify({ hook, run, step, delivery, by, receivedAt: isoTime(receivedAt) })
  const created = isoTime(receivedAt)
  // The text of the data stays as it is, with every digit of its numbers.
  const event = `{"id":"${id}","type":"${HOOK_ANSWERED}","created":"${created}"`
  const body = `${event},"data":${head.slice(0, -1)},"data":${data}}}`
  return { id, type: HOOK_ANSWERED, account, createdAt: receivedAt, body }
}

/** The id of a hook. A step that begins anew, after a restart of its run, opens another one. */
export function deriveHookId(run: string, step: string, fence: number): string {
  return deriveId('hok', run, step, fence)
}

/** Where senders reach the hooks of this app, and the key of their tokens. */
export interface Callbacks {
  /** Without a slash at its end. */
  origin: string
  key: string
}

export const CALLBACK_PATH = '/callbacks/'

export function callbackUrl({ origin, key }: Callbacks, id: string): string {
  return `${origin}${CALLBACK_PATH}${tokenOf(key, id)}`
}

const ID_DIGITS = 26
/** 160 bits that nobody has without the key. */
const MAC_DIGITS = 32
const DIGIT = '[0-9a-hjkmnp-tv-z]'
const TOKEN = new RegExp(`^(${DIGIT}{${ID_DIGITS}})(${DIGIT}{${MAC_DIGITS}})$`)
/** A slash, also in a URL that is a parameter of another one. */
const SLASH = '(?:/|%2F)'
/** The same within JSON that writes `\/`, or encoded twice. */
const ANY_SLASH = String.raw`(?:\\*/|%(?:25)*2F)`
const IN_TEXT = new RegExp(`(callbacks${ANY_SLASH}${DIGIT}{${ID_DIGITS}})${DIGIT}{${MAC_DIGITS}}`, 'gi')
const SCHEME = 'https?(?::|%3A)'
const BEFORE = String.raw`${SCHEME}(?:(?!${SCHEME})[^\s"'<>])*?`
const MAYBE_MASKED = new RegExp(
  `${BEFORE}${SLASH}callbacks(${SLASH})(${DIGIT}{${ID_DIGITS}})(?:${DIGIT}{${MAC_DIGITS}}|…)`,
  'gi',
)

/** The last part of a hook's URL: its id, and a proof that only we can make. */
function tokenOf(key: string, id: string): string {
  const digits = id.slice('hok_'.length)
  return digits + macOf(key, digits)
}

/** The id in a token of ours; null for any other word, in the same time. */
export function readToken(key: string, token: string): string | null {
  const [, digits = '', mac = '0'.repeat(MAC_DIGITS)] = TOKEN.exec(token) ?? []
  const isOurs = timingSafeEqual(Buffer.from(macOf(key, digits)), Buffer.from(mac))
  return isOurs ? `hok_${digits}` : null
}

function macOf(key: string, digits: string): string {
  return spellBytes(createHmac('sha256', key).update(digits).digest())
}

/** The URL of a hook in a preview, which has no address: nobody answers there. */
export function previewUrl(id: string): string {
  return `https://callbacks.invalid/${id}`
}

/** Text in which URLs of hooks, masked or not, are those that a preview of the run gets. */
export function asPreviewed(text: string): string {
  if (!mayHaveHooks(text)) return text
  return text.replace(MAYBE_MASKED, (_, slash: string, digits: string) => {
    const url = previewUrl(`hok_${digits}`)
    return slash === '/' ? url : encodeURIComponent(url)
  })
}

/** Text in which no URL of a hook can be used. */
export function maskTokens(text: string): string {
  return mayHaveHooks(text) ? text.replace(IN_TEXT, '$1…') : text
}

/** False for most texts, and at little cost. */
export function mayHaveHooks(text: string): boolean {
  return text.includes('callbacks')
}
