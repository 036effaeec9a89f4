import type { KeyObject } from 'node:crypto'
import { isoTime } from '../../time.ts'
import type { EffectRecord } from '../effect.ts'
import { type GrantReads, VerifiedGrants } from '../votes/verified-grants.ts'
import { VerifiedVotes, type VoteReads, type VoteSigner } from '../votes/verified-votes.ts'
import { type Anchor, isExplained } from './anchor.ts'
import { RowQueue } from './row-queue.ts'
import { digestRows, isErasedBy, isSameMac, macOf, readErased, type Seal, type SealKey } from './seal.ts'

export interface LedgerReport {
  passed: boolean
  /** Rows that are there, and those of them that a seal covers. */
  effects: number
  sealed: number
  seals: number
  /** Rows of which people erased text; the rest of each is as it was sealed. */
  erased: number
  /** Rows up to this one may be missing, because retention removed them. */
  prunedTo: number
  /** The newest anchor that the chain contains; null for none. */
  anchored: Anchor | null
  /** Sealed rows after that anchor: whoever has the key could have changed them. */
  sinceAnchor: number
  /** The restorations that people named. */
  restored: { seal: number; at: number; note: string }[]
  /** Words of people on approvals, and those of them with a good signature. */
  words: number
  signedWords: number
  /** The keys of those signatures. */
  signers: VoteSigner[]
  /** Effects that began by an approval, and those of them whose words nobody signed. */
  granted: number
  grantedUnsigned: number
  /** Sentences, the first {@link MAX_FAULTS} of them. */
  faults: string[]
  faultCount: number
}

export interface LedgerCheck {
  /** Anchors to look for. Default: none. */
  anchors?: readonly Anchor[] | undefined
  /** Hears of each thousandth row, and of the last one that is sealed. */
  onProgress?: ((part: { done: number; total: number }) => void) | undefined
}

/** Faults that a report shows. */
const MAX_FAULTS = 20
const SEALS_A_PAGE = 2_000
const TOLD_ROWS = 1_000

/** The reads of a store that a verification needs; both lists come oldest first. */
export interface LedgerReads extends VoteReads, GrantReads {
  listSeals(query: { after: number; limit: number }): Promise<Seal[]>
  listSealKeys(): Promise<SealKey[]>
  listLostBegins(query: { prunedTo: number; limit: number }): Promise<LostBegin[]>
}

/** A step that began, by a ledger row that is not there. */
export interface LostBegin {
  runId: string
  step: string
  seq: number
}

/**
 * Follows the chain of seals from its beginning, and compares every sealed row and every vote. It
 * looks for the anchors, for rows that steps name, and for the words by which effects began.
 * Memory is bounded, however long the ledger is.
 */
export async function verifyLedger(
  store: LedgerReads,
  { anchors = [], onProgress }: LedgerCheck = {},
): Promise<LedgerReport> {
  const keys = new Map((await store.listSealKeys()).map(({ number, secret }) => [number, secret]))
  const chain = new ChainCheck(keys, anchors)
  for await (const page of sealPages(store)) for (const seal of page) chain.add(seal)
  chain.end()
  const { prunedTo, anchored } = chain
  const votes = new VerifiedVotes(store)
  const grants = new VerifiedGrants(store, prunedTo)
  const onRow = ({ seq }: EffectRecord) => {
    if (seq % TOLD_ROWS === 0) onProgress?.({ done: seq, total: Math.max(seq, chain.last) })
  }
  const rows = await checkRows(store, { keys, prunedTo, anchored, votes, grants, onRow })
  await votes.end(prunedTo)
  await grants.end()
  const { words, signed: signedWords, signers } = votes
  const lost = await store.listLostBegins({ prunedTo, limit: MAX_FAULTS })
  rows.faults.push(...lost.map(({ runId, step, seq }) => `row ${seq} is gone, in which step ${step} of ${runId} began`))
  const faults = [...chain.faults, ...rows.faults, ...votes.faults, ...grants.faults]
  return {
    passed: faults.length === 0,
    effects: rows.effects,
    sealed: rows.sealed,
    erased: rows.erased,
    seals: chain.seals,
    prunedTo,
    anchored,
    sinceAnchor: rows.sinceAnchor,
    restored: chain.restored,
    words,
    signedWords,
    signers,
    granted: grants.granted,
    grantedUnsigned: grants.unsigned,
    faults: faults.slice(0, MAX_FAULTS),
    faultCount: faults.length,
  }
}

/** The seals alone: numbers, MACs, and anchors. */
class ChainCheck {
  readonly faults: string[] = []
  readonly restored: LedgerReport['restored'] = []
  seals = 0
  prunedTo = 0
  anchored: Anchor | null = null
  readonly #keys: ReadonlyMap<number, KeyObject>
  readonly #anchors = new Map<number, Anchor[]>()
  /** Anchors that the chain does not have, until a restoration explains them. */
  readonly #missed: { anchor: Anchor; own?: Seal; fault: string }[] = []
  #before: Seal | null = null

  constructor(keys: ReadonlyMap<number, KeyObject>, anchors: readonly Anchor[]) {
    this.#keys = keys
    for (const anchor of anchors) this.#anchors.set(anchor.seal, [...(this.#anchors.get(anchor.seal) ?? []), anchor])
  }

  add(seal: Seal): void {
    const before = this.#before
    const expected = (before?.number ?? 0) + 1
    if (seal.number !== expected) this.faults.push(`${nameSeals(expected, seal.number - 1)} gone`)
    else this.#checkMac(seal, before?.mac ?? null)
    if (seal.last < (before?.last ?? 0)) this.faults.push(`${nameSeal(seal)} goes back to row ${seal.last}`)
    this.prunedTo = Math.max(this.prunedTo, seal.prunedTo ?? 0)
    if (seal.kind === 'restored') this.restored.push({ seal: seal.number, at: seal.at, note: seal.note ?? '' })
    this.#checkAnchors(seal)
    this.#before = seal
    this.seals += 1
  }

  /** The newest row that a seal covers. */
  get last(): number {
    return this.#before?.last ?? 0
  }

  /** Once, after the last seal. */
  end(): void {
    const end = this.#before?.number ?? 0
    for (const anchor of [...this.#anchors.values()].flat()) {
      this.#missed.push({ anchor, fault: `the chain ends at seal ${end}, before the ${nameAnchor(anchor)}` })
    }
    const open = this.#missed.filter(
      ({ anchor, own }) => !this.restored.some(({ seal, at }) => isExplained(anchor, { number: seal, at }, own)),
    )
    this.faults.push(...open.map(({ fault }) => fault))
  }

  #checkMac(seal: Seal, before: string | null): void {
    const key = this.#keys.get(seal.key)
    if (key === undefined) this.faults.push(`${nameSeal(seal)} names the key ${seal.key}, which is gone`)
    else if (!isSameMac(macOf(key, seal, before), seal.mac))
      this.faults.push(`${nameSeal(seal)} does not fit: it, or the one before, was changed`)
  }

  #checkAnchors(seal: Seal): void {
    for (const anchor of this.#anchors.get(seal.number) ?? []) {
      if (anchor.mac === seal.mac && anchor.last === seal.last) this.anchored = anchor
      else
        this.#missed.push({
          anchor,
          own: seal,
          fault: `seal ${seal.number} is another one than in the ${nameAnchor(anchor)}`,
        })
    }
    this.#anchors.delete(seal.number)
  }
}

interface RowCheck {
  faults: string[]
  effects: number
  sealed: number
  erased: number
  sinceAnchor: number
}

interface RowContext {
  keys: ReadonlyMap<number, KeyObject>
  prunedTo: number
  anchored: Anchor | null
  votes: VerifiedVotes
  grants: VerifiedGrants
  onRow: (row: EffectRecord) => void
}

/** Every row against the seal that covers it. */
async function checkRows(
  store: LedgerReads,
  { keys, prunedTo, anchored, votes, grants, onRow }: RowContext,
): Promise<RowCheck> {
  const check: RowCheck = { faults: [], effects: 0, sealed: 0, erased: 0, sinceAnchor: 0 }
  const rows = new RowQueue(store, async (row) => {
    onRow(row)
    if (row.phase === 'decided') await votes.add(row)
    await grants.add(row)
  })
  for (const { seq } of await rows.takeUpTo(0)) {
    check.faults.push(`row ${seq} is numbered below the first, where no seal covers it`)
  }
  let before = 0
  let hasBegun = false
  for await (const seal of sealsOfRows(store)) {
    const { last, key, rows: count } = seal
    const covered = await rows.takeUpTo(last)
    check.sealed += covered.length
    if (last > (anchored?.last ?? 0)) check.sinceAnchor += covered.length
    check.erased += covered.filter(({ erased }) => erased !== null).length
    // Retention takes the oldest rows first, and may be half-way in the first seal that has any.
    const isGoing = last <= prunedTo && !hasBegun && covered.length < count
    hasBegun ||= covered.length > 0
    const secret = keys.get(key)
    if (secret !== undefined && !isGoing) {
      check.faults.push(...(await checkCovered(store, seal, { covered, secret, first: before + 1 })))
    }
    before = last
  }
  check.effects = check.sealed + (await rows.countRest())
  return check
}

/** The rows from `first` on against the seal that covers them. */
async function checkCovered(
  store: LedgerReads,
  seal: Seal,
  { covered, secret, first }: { covered: readonly EffectRecord[]; secret: KeyObject; first: number },
): Promise<string[]> {
  const { last, rows: count, digest } = seal
  const isOne = first === last
  const range = isOne ? `row ${last}` : `rows ${first} to ${last}`
  if (covered.length !== count) {
    return [`${nameSeal(seal)} covers ${count} rows, and ${covered.length} are there: ${range}`]
  }
  const faults = await findForgedErasures(store, covered, secret)
  if (isSameMac(digestRows(secret, covered), digest)) return faults
  return [...faults, `${range} ${isOne ? 'is' : 'are'} not as ${nameSeal(seal)} covers ${isOne ? 'it' : 'them'}`]
}

/** Rows that say that text of them was erased, where no person's row tells of that. */
async function findForgedErasures(store: LedgerReads, rows: readonly EffectRecord[], key: KeyObject) {
  const faults: string[] = []
  for (const row of rows) {
    if (row.erased === null) continue
    const [word] = await store.listEffects({ after: readErased(row.erased).by - 1, limit: 1 })
    if (!isErasedBy(word, row, key)) faults.push(`row ${row.seq} lost text, and no row tells who erased it`)
  }
  return faults
}

async function* sealsOfRows(store: LedgerReads): AsyncGenerator<Seal> {
  for await (const page of sealPages(store)) yield* page.filter(({ kind }) => kind === 'rows')
}

async function* sealPages(store: LedgerReads): AsyncGenerator<Seal[]> {
  for (let after = 0; ; ) {
    const page = await store.listSeals({ after, limit: SEALS_A_PAGE })
    if (page.length > 0) yield page
    if (page.length < SEALS_A_PAGE) return
    after = page.at(-1)?.number ?? after
  }
}

function nameSeal({ number, at }: Seal): string {
  return `seal ${number} of ${isoTime(at)}`
}

function nameSeals(from: number, to: number): string {
  return to <= from ? `seal ${from} is` : `seals ${from} to ${to} are`
}

function nameAnchor({ seal, at }: Anchor): string {
  return `anchor of ${isoTime(at)} (seal ${seal})`
}
