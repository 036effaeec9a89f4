import { parseFields } from '../../json.ts'
import type { Approval, ApprovalItem, Approver } from '../approval.ts'
import { type EffectRecord, type FileState, isSameState } from '../effect.ts'
import { coversEffect, scopeOf } from '../stop.ts'
import {
  type ApprovalProof,
  CHANGED_LIST,
  loadProof,
  MAX_VOTES,
  type ProofFacts,
  type ProofReads,
} from './approval-proof.ts'
import { readWord } from './vote-record.ts'

/** The reads of a store that a verification of permits needs. */
export interface GrantReads extends ProofReads {
  findApproval(id: string, now: number): Promise<Approval | null>
}

/** An approval, as rows of the ledger name it. */
interface Known {
  proof: ApprovalProof
  items: Map<string, ApprovalItem>
  /** With and without the need of a signature. */
  signed: ProofFacts
  unsigned: ProofFacts
  begun: Set<number>
}

/** Approvals that are kept while rows name them. */
const KEPT = 16

/**
 * Looks for the words by which each effect of an approval began, and for stops that were in force.
 * It also looks for people whom the ledger does not know. Add every row, oldest first.
 */
export class VerifiedGrants {
  readonly faults: string[] = []
  /** Effects that began by an approval, and those of them whose words nobody signed. */
  granted = 0
  unsigned = 0
  readonly #store: GrantReads
  readonly #prunedTo: number
  readonly #known = new Map<string, Known | null>()
  /** By scope, the row of the stop. */
  readonly #stops = new Map<string, number>()
  /** Approvals of which people erased text: their lists cannot be compared any more. */
  readonly #erased = new Set<string>()
  readonly #doubts = new Map<string, string>()
  #people: Approver[] | null = null
  #hasPeople = false

  /** `prunedTo`: rows up to this one are gone. */
  constructor(store: GrantReads, prunedTo: number) {
    this.#store = store
    this.#prunedTo = prunedTo
  }

  async add(row: EffectRecord): Promise<void> {
    if (row.phase === 'switched') this.#switch(row)
    else if (row.phase === 'noted' && row.operation === 'erase') this.#erased.add(row.approval ?? '')
    else if (row.phase === 'noted') await this.#notePerson(row)
    else if (row.phase === 'decided') await this.#checkSigner(row)
    else if (row.phase === 'begun') {
      this.#checkStops(row)
      if (row.approval !== null) await this.#checkGrant(row, row.approval)
    }
  }

  /** Once, after the last row. */
  async end(): Promise<void> {
    for (const [fault, approval] of this.#doubts) if (!this.#erased.has(approval)) this.faults.push(fault)
    for (const { name, publicKey } of await this.#listPeople()) {
      if (publicKey === '') this.faults.push(`the approver "${name}" was not added by our command`)
    }
  }

  async #listPeople(): Promise<Approver[]> {
    this.#people ??= await this.#store.listApprovers()
    return this.#people
  }

  /** Whether words had to be signed when this row was written. */
  async #mustSign({ at }: EffectRecord): Promise<boolean> {
    if (!this.#hasPeople && this.#prunedTo > 0) {
      this.#hasPeople = (await this.#listPeople()).some(({ addedAt }) => addedAt <= at)
    }
    return this.#hasPeople
  }

  async #notePerson({ seq, operation, actor, asked }: EffectRecord): Promise<void> {
    if (operation !== 'approver.add' && operation !== 'approver.remove') return
    this.#hasPeople = true
    const isRemoved = operation === 'approver.remove'
    const { publicKey: key } = parseFields(asked ?? '')
    const isThere = (await this.#listPeople()).some(
      ({ name, publicKey, removedAt }) => name === actor && publicKey === key && (!isRemoved || removedAt !== null),
    )
    if (!isThere) this.faults.push(`row ${seq}: the approver "${actor}" ${isRemoved ? 'is back' : 'is gone'}`)
  }

  async #checkSigner(row: EffectRecord): Promise<void> {
    const word = readWord(row)
    if (word === null || !(await this.#mustSign(row))) return
    const { actor, publicKey } = word
    if (publicKey === null)
      this.faults.push(`row ${row.seq}: the decision of "${actor}" on ${row.approval} is not signed`)
    else if (!(await this.#listPeople()).some((one) => one.name === actor && one.publicKey === publicKey))
      this.faults.push(`row ${row.seq}: the decision of "${actor}" is signed with a key that was never theirs`)
  }

  #switch({ seq, operation, target }: EffectRecord): void {
    if (target === null) return
    if (operation === 'stop') this.#stops.set(target, seq)
    else this.#stops.delete(target)
  }

  #checkStops({ seq, workflow, account, target }: EffectRecord): void {
    for (const [scope, stop] of this.#stops) {
      const storage = /^([^:]*):/.exec(target ?? '')?.[1] ?? null
      if (coversEffect(scopeOf(scope), { workflow, account, storage }))
        this.faults.push(`row ${seq} began while ${scope} were stopped (row ${stop})`)
    }
  }

  async #checkGrant(row: EffectRecord, approval: string): Promise<void> {
    this.granted += 1
    const mustSign = await this.#mustSign(row)
    if (!mustSign) this.unsigned += 1
    const fault = findFault(row, await this.#find(approval), mustSign)
    if (fault !== null) this.#doubts.set(`row ${row.seq} began by ${approval}, and ${fault}`, approval)
  }

  async #find(approval: string): Promise<Known | null> {
    const kept = this.#known.get(approval)
    if (kept !== undefined) return kept
    const found = await this.#load(approval)
    this.#known.set(approval, found)
    for (const oldest of this.#known.keys()) if (this.#known.size > KEPT) this.#known.delete(oldest)
    return found
  }

  async #load(approval: string): Promise<Known | null> {
    const terms = await this.#store.findApproval(approval, 0)
    if (terms === null) return null
    const { proof, items } = await loadProof(this.#store, terms)
    const votes = await this.#store.listVotes({ approval, limit: MAX_VOTES })
    return {
      proof,
      items: new Map(items.map((item) => [`${item.runId} ${item.step}`, item])),
      signed: { votes, approvers: await this.#listPeople() },
      unsigned: { votes, approvers: [] },
      begun: new Set(),
    }
  }
}

/** Why an approval did not let the effect of a row begin; null: it did. */
function findFault(row: EffectRecord, known: Known | null, mustSign: boolean): string | null {
  const item = known?.items.get(`${row.runId} ${row.step}`)
  if (known === null || item === undefined) return 'that does not list it'
  const { proof, begun } = known
  const { fault, by } = proof.judge(item.number, mustSign ? known.signed : known.unsigned)
  if (fault !== null) return proof.find(item.hash).length === 0 ? CHANGED_LIST : fault
  const words = known.signed.votes.filter(({ actor }) => by.includes(actor))
  if (words.some(({ effectSeq }) => effectSeq > row.seq)) return 'the words came later'
  if (item.target !== row.target || !isSameState(item.asked, readState(row.expect))) return 'people saw another file'
  if (begun.has(item.number)) return 'it began by that before'
  begun.add(item.number)
  return null
}

function readState(text: string | null): FileState | null {
  return text === null ? null : (parseFields(text) as unknown as FileState)
}
