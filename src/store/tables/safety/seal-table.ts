import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { digestRows, macOf, type Seal, type SealKey, type SealState } from '../../../core/safety/ledger/seal.ts'
import { JoinedTable } from '../../connection.ts'
import { sealKeyOwner, type Vault } from '../../vault.ts'
import type { EffectSearch } from './effect-search.ts'

interface SealedRows {
  /** Rows that this call sealed. */
  rows: number
  /** The newest seal; null while there is none. */
  head: Seal | null
  /** True where a person's decision or switch is among them. */
  hasDecision: boolean
}

interface SealRow extends Omit<Seal, 'digest' | 'mac'> {
  digest: Buffer
  mac: Buffer
}

function readSeal({ digest, mac, ...rest }: SealRow): Seal {
  return { ...rest, digest: digest.toString('hex'), mac: mac.toString('hex') }
}

/** The facts of a new seal that its kind brings; the chain adds the rest. */
type NewSeal = Pick<Seal, 'kind' | 'at'> & Partial<Pick<Seal, 'key' | 'last' | 'rows' | 'digest' | 'prunedTo' | 'note'>>

const KEY_BYTES = 32
/** Unsealed rows that a state counts. */
const MAX_COUNTED = 10_000

/** The chain over the effect ledger. Its rows are appended. See decision 58. */
export class SealTable extends JoinedTable<{ vault: Vault; effects: EffectSearch }> {
  readonly #keys = new SealKeys(this.db, this.parts)
  /** Index: primary key of effect and effect_seal; effect_seal_pruned and effect_seal_last. */
  readonly #sql = {
    list: this.db.prepare<[number, number], SealRow>(
      'SELECT * FROM effect_seal WHERE number > ? ORDER BY number LIMIT ?',
    ),
    insert: this.db.prepare(
      `INSERT INTO effect_seal (number, kind, at, key, last, rows, digest, pruned_to, note, mac)
       VALUES (@number, @kind, @at, @key, @last, @rows, @digest, @prunedTo, @note, @mac)`,
    ),
    keyOf: this.db.pluck<[number], number>(
      `SELECT key FROM effect_seal WHERE kind = 'rows' AND last >= ? ORDER BY last LIMIT 1`,
    ),
    prunedTo: this.db.pluck<[], number | null>('SELECT max(pruned_to) FROM effect_seal WHERE pruned_to IS NOT NULL'),
    numberOf: this.db.pluck<[number], number>(`SELECT number FROM effect_seal WHERE kind = 'rows' AND last = ?`),
    newestLast: this.db.pluck<[], number | null>(`SELECT max(last) FROM effect_seal WHERE kind = 'rows'`),
  }

  readonly head = this.readRow<[], SealRow, Seal>('SELECT * FROM effect_seal ORDER BY number DESC LIMIT 1', readSeal)
  readonly #countAfter = this.readOne<[seq: number], Omit<SealState, 'head'>>(
    `SELECT count(*) AS unsealed, min(at) AS unsealed_since
     FROM (SELECT at FROM effect WHERE seq > ? ORDER BY seq LIMIT ${MAX_COUNTED}) AS rest`,
  )

  /** Numbered above `after`, oldest first. */
  async listSeals({ after = 0, limit }: { after?: number; limit: number }): Promise<Seal[]> {
    return (await this.#sql.list.all(after, limit)).map(readSeal)
  }

  /** Every key of the chain. Throws `invalid_config` where the project's key does not open one. */
  listSealKeys(): Promise<SealKey[]> {
    return this.#keys.list()
  }

  async readSealState(): Promise<SealState> {
    const head = await this.head()
    return { head, ...(await this.#countAfter(head?.last ?? 0)) }
  }

  /** One seal at a time, and none beside a ledger row that is not committed. */
  async lock(): Promise<void> {
    await this.db.lock(['ledger'])
  }

  /** The key of the seal that covers a ledger row. */
  async secretOf(seq: number): Promise<KeyObject> {
    const number = await this.#sql.keyOf.get(seq)
    const key = (await this.#keys.list()).find((each) => each.number === number)
    if (key === undefined) throw new TypeError(`no seal covers row ${seq}`)
    return key.secret
  }

  /** The key of the first seal, which stays the same. */
  async firstSecret(): Promise<KeyObject> {
    return ((await this.#keys.list())[0] ?? (await this.#keys.make(1))).secret
  }

  /** Seals up to `limit` of the oldest ledger rows that no seal covers, in one commit. */
  async sealEffects({ now, limit }: { now: number; limit: number }): Promise<SealedRows> {
    await this.lock()
    const head = await this.head()
    const rows = await this.parts.effects.listEffects({ after: head?.last ?? 0, limit })
    const newest = rows.at(-1)
    if (newest === undefined) return { rows: 0, head, hasDecision: false }
    const key = await this.#keys.current()
    const digest = digestRows(key.secret, rows)
    const seal = await this.append({ kind: 'rows', at: now, last: newest.seq, rows: rows.length, digest })
    const hasDecision = rows.some(({ phase }) => phase === 'decided' || phase === 'switched')
    return { rows: rows.length, head: seal, hasDecision }
  }

  async append(facts: NewSeal): Promise<Seal> {
    const head = await this.head()
    const key = await this.#keys.current()
    const seal = {
      number: (head?.number ?? 0) + 1,
      key: key.number,
      last: head?.last ?? 0,
      rows: 0,
      digest: '',
      prunedTo: null,
      note: null,
      ...facts,
    }
    const mac = macOf(key.secret, seal, head?.mac ?? null)
    const { digest, prunedTo, ...rest } = seal
    const bytes = { digest: Buffer.from(digest, 'hex'), mac: Buffer.from(mac, 'hex') }
    await this.#sql.insert.run({ ...rest, ...bytes, prunedTo })
    return { ...seal, mac }
  }

  /** Goes on with a new key, in the commit that seals the secrets anew. Nothing without a chain. */
  async rekey(now: number): Promise<void> {
    const newest = (await this.#keys.list()).at(-1)
    if (newest === undefined) return
    await this.#keys.make(newest.number + 1)
    await this.append({ kind: 'rekeyed', at: now })
  }

  /** Rows up to this one may go; 0: none. */
  async prunedTo(): Promise<number> {
    return (await this.#sql.prunedTo.get()) ?? 0
  }

  /**
   * The last row of the seals that are older than a moment, among `limit` of those not pruned yet.
   * Null where there is none. The newest seal's rows stay, so no number comes twice.
   */
  async findPrunable(before: number, limit: number): Promise<number | null> {
    const from = (await this.#sql.numberOf.get(await this.prunedTo())) ?? 0
    const newest = (await this.#sql.newestLast.get()) ?? 0
    const seals = (await this.listSeals({ after: from, limit })).filter(
      ({ kind, last }) => kind === 'rows' && last < newest,
    )
    const young = seals.findIndex(({ at }) => at >= before)
    return (young === -1 ? seals : seals.slice(0, young)).at(-1)?.last ?? null
  }
}

/** The keys of the chain. Each is sealed under its number, so that none takes another's place. */
class SealKeys extends JoinedTable<{ vault: Vault }> {
  // Index: primary key.
  readonly #list = this.db.prepare<[], { number: number; sealed: Buffer }>(
    'SELECT number, sealed FROM effect_key ORDER BY number',
  )
  readonly #add = this.db.prepare('INSERT INTO effect_key (number, sealed) VALUES (?, ?)')

  async list(): Promise<SealKey[]> {
    return (await this.#list.all()).map(({ number, sealed }) => {
      const secret = createSecretKey(this.parts.vault.open(sealKeyOwner(number), sealed), 'base64')
      return { number, secret }
    })
  }

  /** The newest key. The first call of a database makes one. */
  async current(): Promise<SealKey> {
    return (await this.list()).at(-1) ?? (await this.make(1))
  }

  /** Adds a key, which is the current one from then on. */
  async make(number: number): Promise<SealKey> {
    const secret = randomBytes(KEY_BYTES)
    await this.#add.run(number, this.parts.vault.seal(sealKeyOwner(number), secret.toString('base64')))
    return { number, secret: createSecretKey(secret) }
  }
}
