import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { UpshotError } from '../core/errors.ts'
import { planWord } from '../core/incoming/plan-word.ts'
import { type Approval, type ApprovalItem, type Decision, describeVote, type Verdict } from '../core/safety/approval.ts'
import { checkAnswer } from '../core/safety/check-answer.ts'
import { carryOut, carryOutRest } from '../core/store/as-operator.ts'
import type { Store } from '../core/store/store.ts'

/** An approval, as the person who decides sees it. */
export interface TestApproval extends Pick<Approval, 'id' | 'kind' | 'status' | 'workflow' | 'why' | 'expiresAt'> {
  /** Effects that are still asked for. */
  items: Pick<ApprovalItem, 'number' | 'target' | 'asked' | 'runId' | 'step'>[]
  /** The `show` of a question; null for a list of effects. */
  show: unknown
}

/** Options of a decision in a test. */
export interface DecideOptions {
  /** Numbers of the items to approve. Default: all. */
  only?: readonly number[]
  /** The answer to a question that asks for one. */
  answer?: unknown
  /** The person. Default `tester`. */
  by?: string
  /** Roles of the person. Default: the one that the question asks for. */
  roles?: readonly string[]
  /** Default: none. */
  reason?: string
}

const ALL = 100_000

/** The people of a testbed, who decide what waits for them. */
export class People {
  readonly #store: Store
  readonly #now: () => number
  readonly #registered = new Map<string, { key: KeyObject; roles: readonly string[] }>()

  constructor(store: Store, now: () => number) {
    this.#store = store
    this.#now = now
  }

  /** Open approvals, oldest first. */
  async list(): Promise<TestApproval[]> {
    const found = await this.#store.listApprovals({ status: 'open', limit: ALL, now: this.#now() })
    return Promise.all(found.reverse().map((approval) => this.#describe(approval)))
  }

  async decide(approval: TestApproval | string, verdict: Verdict, options: DecideOptions): Promise<void> {
    const id = typeof approval === 'string' ? approval : approval.id
    const found = await this.#store.findApproval(id, this.#now())
    if (!found) throw new UpshotError('not_found', `There is no approval ${id}.`)
    const { only, answer, by = 'tester', reason = null, roles } = options
    const text = verdict === 'approved' ? checkAnswer(found, answer) : null
    const words: Decision = {
      approval: id,
      verdict,
      actor: by,
      reason,
      hash: found.hash,
      answer: text,
      signature: null,
      only: only?.map((number) => ({ from: number, to: number })) ?? null,
    }
    const key = await this.#register(by, roles ?? (found.role === null ? [] : [found.role]))
    const signature = key === null ? null : sign(null, Buffer.from(describeVote(words)), key)
    const result = await this.#store.decideApproval({ ...words, signature }, this.#now())
    await carryOut(this.#store, result, { now: this.#now })
  }

  /** The key of a person; null while no question has asked for a role, so that words need none. */
  async #register(name: string, roles: readonly string[]): Promise<KeyObject | null> {
    const known = this.#registered.get(name)
    if (known && roles.every((role) => known.roles.includes(role))) return known.key
    if (roles.length === 0 && this.#registered.size === 0) return null
    const { privateKey: key, publicKey } = generateKeyPairSync('ed25519')
    const all = [...new Set([...(known?.roles ?? []), ...roles])]
    if (known) await this.#store.removeApprover(name, this.#now())
    const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString()
    await this.#store.addApprover({ name, publicKey: pem, roles: all, addedAt: this.#now(), removedAt: null })
    this.#registered.set(name, { key, roles: all })
    return key
  }

  /** Answers a hook of a run, by the key of the step that opened it. */
  async answer(run: string, step: string, data: unknown): Promise<void> {
    const hooks = await this.#store.listHooks(run)
    const hook = hooks.find((each) => each.step === step)
    if (hook === undefined) {
      const known = hooks.map((each) => `"${each.step}"`).join(', ') || 'none'
      throw new UpshotError('not_found', `Run ${run} has no hook "${step}". It has: ${known}.`)
    }
    await this.#store.answerHook(planWord(hook, { data, by: 'tester', now: this.#now() }))
  }

  async stop(reason: string): Promise<void> {
    await this.#store.stopEffects({ kind: 'all', name: '', since: this.#now(), actor: 'tester', reason })
  }

  async resume(): Promise<void> {
    await this.#store.resumeEffects({ kind: 'all', name: '' }, { actor: 'tester', reason: null, now: this.#now() })
    await carryOutRest(this.#store, { now: this.#now })
  }

  async #describe(approval: Approval): Promise<TestApproval> {
    const { id, kind, status, workflow, why, expiresAt, question } = approval
    const items = await this.#store.listApprovalItems({ approval: id, limit: ALL })
    return {
      id,
      kind,
      status,
      workflow,
      why,
      expiresAt,
      show: question?.show ?? null,
      items: items
        .filter(({ state }) => state === 'open')
        .map(({ number, target, asked, runId, step }) => ({ number, target, asked, runId, step })),
    }
  }
}

export abstract class Deciding {
  protected abstract readonly people: People

  /** Resolves when every run has ended or waits for time, an event or a person. */
  abstract settle(): Promise<void>

  /** Open approvals, oldest first. */
  approvals(): Promise<TestApproval[]> {
    return this.people.list()
  }

  /** Approves the list of an approval as it is now. */
  approve(approval: TestApproval | string, options: DecideOptions = {}): Promise<void> {
    return this.#act(() => this.people.decide(approval, 'approved', options))
  }

  /** Denies an approval, so that its steps fail with the code `denied`. */
  deny(approval: TestApproval | string, options: DecideOptions = {}): Promise<void> {
    return this.#act(() => this.people.decide(approval, 'denied', options))
  }

  /**
   * Answers a hook of a run, by the key of the step that opened it, as `upshot runs answer` does.
   * Throws `invalid_request` for data that does not fit, and `conflict` where none is taken.
   */
  answer(run: { id: string } | string, step: string, data: unknown): Promise<void> {
    return this.#act(() => this.people.answer(typeof run === 'string' ? run : run.id, step, data))
  }

  /** Holds every delete and `once` step, like `upshot effects stop`. */
  stopEffects(reason = 'stopped by a test'): Promise<void> {
    return this.#act(() => this.people.stop(reason))
  }

  /** Ends that stop. */
  resumeEffects(): Promise<void> {
    return this.#act(() => this.people.resume())
  }

  async #act(action: () => Promise<void>): Promise<void> {
    await action()
    await this.settle()
  }
}
