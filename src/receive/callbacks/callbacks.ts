import { hash } from 'node:crypto'
import { parse as parseMediaType } from 'content-type'
import { UpshotError } from '../../core/errors.ts'
import type { DeliveryFacts } from '../../core/incoming/delivery.ts'
import { type Hook, type HookRecord, readToken, stateOf } from '../../core/incoming/hook.ts'
import { findMisfits } from '../../core/incoming/json-schema.ts'
import { DEFAULT_SCHEME, verifySignature } from '../../core/incoming/signature.ts'
import { isPlainObject, type JsonValue } from '../../core/json.ts'
import type { Publish } from '../../core/notices.ts'
import { solveScheme } from '../../core/solver/solve-scheme.ts'
import type { Store } from '../../core/store/store.ts'
import {
  type Addressee,
  describeMistrust,
  nameMediaType,
  pickSigningHeaders,
  type RawDelivery,
  type Reception,
  refuse,
} from '../accept-delivery.ts'
import { JSON_LIMITS, readJson, readText } from '../read-event.ts'
import { describeOutcome, ONLY_FIELD, typeOf } from './callback-page.ts'

type FoundHook = HookRecord & Pick<Hook, 'sign'>

interface CallbackParts {
  store: Pick<Store, 'loadHookKey' | 'findHook' | 'answerHook'>
  publish: Publish
  /** How far our clock was set forward, in milliseconds. */
  clockJump: () => number
}

/** Finds the hooks that requests name by their tokens, and judges the answers. */
export class Callbacks {
  readonly #parts: CallbackParts
  #key: Promise<string> | null = null

  constructor(parts: CallbackParts) {
    this.#parts = parts
  }

  /** Null for a word that is no token of ours, which costs no look into the database. */
  async find(token: string): Promise<FoundHook | null> {
    const id = readToken(await this.#loadKey(), token)
    return id === null ? null : this.#parts.store.findHook(id)
  }

  async open(token: string): Promise<Addressee> {
    const hook = await this.find(token)
    return {
      limitKey: hook?.id,
      about: hook === null ? {} : about(hook),
      refusal: hook === null ? 'unknown_hook' : null,
      accept: (delivery) => this.#accept(hook, delivery),
      describe: describeOutcome,
    }
  }

  async #accept(hook: FoundHook | null, delivery: RawDelivery): Promise<Reception> {
    if (hook === null) return refuse('unknown_hook')
    const { sign } = hook
    if (sign !== null) {
      const signature = verifySignature(sign.scheme, [sign.secret], delivery, delivery.receivedAt)
      if (signature.kind !== 'valid') {
        const { verdict, facts } = describeMistrust(signature, sign.scheme, this.#parts.clockJump())
        const reception = refuse(verdict, facts, about(hook))
        return verdict === 'bad_signature'
          ? { ...reception, lookBack: () => explain(sign.secret, delivery) }
          : reception
      }
    }
    const state = stateOf(hook, delivery.receivedAt)
    if (state === 'ended' || state === 'expired') return refuse('closed', { reason: state }, about(hook))
    const read = readAnswer(hook, delivery)
    if (read === null) {
      const refused = refuse('wrong_type', { contentType: nameMediaType(delivery.header('content-type')) }, about(hook))
      return { ...refused, complaint: new UpshotError('invalid_request', TYPES) }
    }
    if (read instanceof UpshotError)
      return { ...refuse('bad_json', { reason: read.message }, about(hook)), complaint: read }
    // Where there is an answer already, the bytes decide and nothing else.
    const misfits = state === 'answered' ? [] : findMisfits(hook.data, read.value)
    return misfits.length === 0 ? this.#answer(hook, delivery, read.text) : misfit(hook, misfits)
  }

  async #answer(hook: FoundHook, { id, body, receivedAt, header }: RawDelivery, data: string): Promise<Reception> {
    const { store, publish } = this.#parts
    const { scheme } = hook.sign ?? {}
    // Answers may be alike. A sender that repeats one says so by such a header. One that is signed
    // comes first: anybody could give a copy another one.
    const signed = scheme?.signed === 'id.timestamp.body' ? header(scheme.idHeader.toLowerCase()) : undefined
    const key = signed ?? header('idempotency-key') ?? header('webhook-id') ?? id
    const receipt = await store.answerHook({
      hook: hook.id,
      delivery: id,
      by: null,
      data,
      sameness: hash('sha256', hook.isMany ? key : body),
      receivedAt,
      bodyBytes: body.length,
      ...about(hook),
    })
    const { verdict, event, resolved } = receipt
    if (resolved > 0) publish({ kind: 'run.queued', count: resolved })
    if (verdict !== 'accepted' && verdict !== 'duplicate') return refuse(verdict, {}, about(hook))
    return { ...refuse('closed', {}, about(hook)), verdict, event: event && { ...event, subject: null } }
  }

  #loadKey(): Promise<string> {
    this.#key ??= this.#parts.store.loadHookKey().catch((error: unknown) => {
      this.#key = null
      throw error
    })
    return this.#key
  }
}

/** Longest body that is compared with other schemes: each of them hashes it. */
const EXPLAINED_BYTES = 65_536

/** The cause of a signature that does not fit, in words that hold no secret; null: not found. */
function explain(secret: string, { body, rawHeaders, receivedAt }: RawDelivery): DeliveryFacts | null {
  if (body.length > EXPLAINED_BYTES) return null
  const headers = pickSigningHeaders(rawHeaders)
  const solution = solveScheme({ headers, body, secrets: [secret], receivedAt })
  if (solution.kind === 'near') return solution.cause === 'missing_header' ? null : { reason: solution.advice }
  if (solution.kind === 'none') return null
  const parts = Object.entries(solution.scheme).filter(
    ([name, value]) => value !== DEFAULT_SCHEME[name as keyof typeof DEFAULT_SCHEME],
  )
  const signs = JSON.stringify(Object.fromEntries(parts))
  return { reason: `The sender signs by another scheme: write sign.scheme of the hook as ${signs}.` }
}

function about({ id: hook, runId: run, step }: FoundHook): { facts: DeliveryFacts } {
  return { facts: { hook, run, step } }
}

function misfit(hook: FoundHook, faults: { at: string; fault: string }[]): Reception {
  const [first] = faults
  const reason = first && `${first.at || '(answer)'}: ${first.fault}`
  const complaint = new UpshotError('invalid_request', `The answer does not fit: ${reason}.`, {
    details: { faults: faults.slice(0, 10) },
  })
  return { ...refuse('misfit', reason === undefined ? {} : { reason }, about(hook)), complaint }
}

interface ReadAnswer {
  value: unknown
  /** The same as JSON text. */
  text: string
}

const TYPES = 'Send JSON, a form as application/x-www-form-urlencoded, or text/plain.'

/** The data of an answer: JSON, a form, or plain text. Null for any other type of content. */
function readAnswer(
  { data }: Pick<HookRecord, 'data'>,
  { header, body }: Pick<RawDelivery, 'header' | 'body'>,
): ReadAnswer | UpshotError | null {
  const type = readType(header('content-type'), body)
  if (type === 'application/json') return readJson(body)
  if (type !== 'application/x-www-form-urlencoded' && type !== 'text/plain') return null
  const text = readText(body)
  if (text instanceof UpshotError) return text
  if (type === 'text/plain') return { value: text, text: JSON.stringify(text) }
  const fields = Map.groupBy(new URLSearchParams(text), ([name]) => name)
  if (fields.size > JSON_LIMITS.keys)
    return new UpshotError('invalid_event', `The body has more than ${JSON_LIMITS.keys} fields.`)
  if (!isEscapedUtf8(text)) return new UpshotError('invalid_event', 'The form is not UTF-8.')
  const value = readForm(fields, data)
  return { value, text: JSON.stringify(value) }
}

/** `URLSearchParams` puts another character in the place of escaped bytes that are no UTF-8. */
function isEscapedUtf8(form: string): boolean {
  try {
    form.replace(/(?:%[0-9a-f]{2})+/gi, (bytes) => decodeURIComponent(bytes))
    return true
  } catch {
    return false
  }
}

/** An answer without content, as of `curl -X POST`, is an empty text. */
function readType(header: string | undefined, body: Buffer): string | null {
  if (header === undefined && body.length === 0) return 'text/plain'
  try {
    return parseMediaType(header ?? '').type
  } catch {
    return null
  }
}

/** Fields are text, read as the number, the boolean or the list that the schema asks for. */
function readForm(fields: ReadonlyMap<string, readonly [string, string][]>, schema: JsonValue): unknown {
  const properties = isPlainObject(schema) && isPlainObject(schema.properties) ? schema.properties : {}
  const required = isPlainObject(schema) && Array.isArray(schema.required) ? schema.required : []
  if (isPlainObject(schema) && schema.type !== undefined && schema.type !== 'object')
    return readField(fields.get(ONLY_FIELD)?.[0]?.[1] ?? '', schema)
  const entries = Array.from(fields).flatMap(([name, pairs]): [string, unknown][] => {
    const texts = pairs.map(([, text]) => text)
    const [first = '', ...others] = texts
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined
    // A browser sends a field that nobody filled in.
    const mayBeEmpty = property === undefined || (typeOf(property) === 'string' && required.includes(name))
    if (first === '' && others.length === 0 && !mayBeEmpty) return []
    if (isPlainObject(property) && property.type === 'array')
      return [[name, texts.map((text) => readField(text, property.items))]]
    return [[name, others.length > 0 ? texts : readField(first, property)]]
  })
  return Object.fromEntries(entries)
}

function readField(text: string, property: unknown): unknown {
  const type = typeOf(property)
  if ((type === 'number' || type === 'integer') && text.trim() !== '' && Number.isFinite(Number(text)))
    return Number(text)
  if (type === 'boolean' && ['true', 'on', 'yes', '1'].includes(text)) return true
  return type === 'boolean' && ['false', 'off', 'no', '0'].includes(text) ? false : text
}
