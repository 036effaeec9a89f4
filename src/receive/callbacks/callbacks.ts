import { hash } from 'node:crypto'
import { UpshotError } from '../../core/errors.ts'
import type { DeliveryFacts } from '../../core/incoming/delivery.ts'
import { type Hook, type HookRecord, readToken, stateOf } from '../../core/incoming/hook.ts'
import { findMisfits } from '../../core/incoming/hook-data.ts'
import { verifySignature } from '../../core/incoming/signature.ts'
import type { Publish } from '../../core/notices.ts'
import type { Store } from '../../core/store/store.ts'
import {
  type Addressee,
  describeMistrust,
  nameMediaType,
  type RawDelivery,
  type Reception,
} from '../accept-delivery.ts'
import { describeOutcome } from './callback-page.ts'
import { readAnswer } from './read-answer.ts'

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
      isKept: hook !== null,
      accept: (delivery) => this.#accept(hook, delivery),
      refuseUnread: (contentLength) =>
        hook === null
          ? refuse('unknown_hook', { contentLength })
          : refuse('too_large', { ...name(hook), contentLength }),
      describe: describeOutcome,
    }
  }

  async #accept(hook: FoundHook | null, delivery: RawDelivery): Promise<Reception> {
    if (hook === null) return refuse('unknown_hook', {})
    const { sign } = hook
    if (sign !== null) {
      const signature = verifySignature(sign.scheme, [sign.secret], delivery, delivery.receivedAt)
      if (signature.kind !== 'valid') {
        const { verdict, facts } = describeMistrust(signature, sign.scheme, this.#parts.clockJump())
        return refuse(verdict, { ...name(hook), ...facts })
      }
    }
    const state = stateOf(hook, delivery.receivedAt)
    if (state === 'ended' || state === 'expired') return refuse('closed', { ...name(hook), reason: state })
    const read = readAnswer(hook, delivery)
    if (read === null)
      return refuse('wrong_type', { ...name(hook), contentType: nameMediaType(delivery.header('content-type')) })
    if (read instanceof UpshotError)
      return { ...refuse('bad_json', { ...name(hook), reason: read.message }), complaint: read }
    // Where there is an answer already, the bytes decide and nothing else.
    const misfits = state === 'answered' ? [] : findMisfits(hook.data, read.value)
    return misfits.length === 0 ? this.#answer(hook, delivery, read.text) : misfit(hook, misfits)
  }

  async #answer(hook: FoundHook, { id, body, receivedAt, header }: RawDelivery, data: string): Promise<Reception> {
    const { store, publish } = this.#parts
    // Answers may be alike. A sender that repeats one says so by such a header.
    const key = header('idempotency-key') ?? header('webhook-id') ?? id
    const receipt = await store.answerHook({
      hook: hook.id,
      delivery: id,
      by: null,
      data,
      sameness: hash('sha256', hook.isMany ? key : body),
      receivedAt,
      bodyBytes: body.length,
      facts: name(hook),
    })
    const { verdict, event, woken } = receipt
    if (woken > 0) publish({ kind: 'run.queued', count: woken })
    if (verdict !== 'accepted' && verdict !== 'duplicate') return refuse(verdict, name(hook))
    return { ...refuse('closed', name(hook)), verdict, event: event && { ...event, subject: null } }
  }

  #loadKey(): Promise<string> {
    this.#key ??= this.#parts.store.loadHookKey().catch((error: unknown) => {
      this.#key = null
      throw error
    })
    return this.#key
  }
}

/** The facts of the ledger about a hook. */
function name({ id: hook, runId: run, step }: FoundHook): DeliveryFacts {
  return { hook, run, step }
}

type Refused = Extract<
  Reception['verdict'],
  | 'unknown_hook'
  | 'answered'
  | 'closed'
  | 'misfit'
  | 'bad_json'
  | 'wrong_type'
  | 'too_large'
  | 'bad_signature'
  | 'stale'
  | 'unavailable'
>

function refuse(verdict: Refused, facts: DeliveryFacts): Reception {
  return { verdict, endpointId: null, endpointName: null, event: null, runs: 0, workflows: [], facts, complaint: null }
}

function misfit(hook: FoundHook, faults: { at: string; fault: string }[]): Reception {
  const [first] = faults
  const reason = first && `${first.at || '(answer)'}: ${first.fault}`
  const complaint = new UpshotError('invalid_request', `The answer does not fit: ${reason}.`, {
    details: { faults: faults.slice(0, 10) },
  })
  return { ...refuse('misfit', { ...name(hook), ...(reason !== undefined && { reason }) }), complaint }
}
