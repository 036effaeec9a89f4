import type { SeenFile } from '../../admin/ports/files-port.ts'
import { coversEffect, type EffectStop } from '../../core/safety/stop.ts'
import { DEFAULT_ACCOUNT } from '../../core/service/account.ts'
import type { EndByHand } from '../../core/store/effects.ts'
import { listSwitches } from '../../core/store/list-switches.ts'
import type { Store } from '../../core/store/store.ts'
import type { Clock } from '../../core/time.ts'

/** A person who deletes, and the account of the service that it is done in. */
interface Hand {
  actor: string
  reason: string | null
  /** Default `default`. */
  account?: string
}

type HandStore = Pick<Store, 'beginByHand' | 'endByHand' | 'listStops' | 'listActions'>

const PLANNING = 'with UPSHOT_EFFECTS=plan nothing acts'

/** Writes the deletes of a person into the ledger, and obeys the stops. */
export class HandLedger {
  readonly #store: HandStore
  readonly #who: { actor: string; reason: string | null; account: string }
  readonly #clock: Pick<Clock, 'now'>

  constructor(store: HandStore, { actor, reason, account = DEFAULT_ACCOUNT }: Hand, clock: Pick<Clock, 'now'>) {
    this.#store = store
    this.#who = { actor, reason, account }
    this.#clock = clock
  }

  async begin(file: SeenFile): Promise<{ seq: number } | { stop: EffectStop }> {
    const stop = await this.#findPlanning()
    return stop === null ? this.#store.beginByHand(this.#describe(file)) : { stop }
  }

  async end(file: SeenFile, seq: number, { outcome, error, before }: Omit<EndByHand, 'seq'>) {
    await this.#store.endByHand({ ...this.#describe(file), seq, outcome, error, before })
  }

  /** The stop that covers a file now; null for none. */
  async findStop({ service: storage }: SeenFile): Promise<EffectStop | null> {
    const source = { workflow: '', account: this.#who.account, storage }
    const stops = await this.#store.listStops()
    return stops.find((stop) => coversEffect(stop, source)) ?? this.#findPlanning()
  }

  /** Where workflows only plan, persons delete nothing either. Null where effects are live. */
  async #findPlanning(): Promise<EffectStop | null> {
    const last = (await listSwitches(this.#store)).at(-1)
    if (last?.to !== 'plan') return null
    return { kind: 'all', name: '', since: last.at, actor: `app on ${last.from}`, reason: PLANNING }
  }

  #describe({ service: storage, id, path, size: bytes, modifiedAt }: SeenFile) {
    const about = { storage, target: `${storage}:${id}` }
    return { ...about, asked: { path, bytes, modifiedAt }, ...this.#who, at: this.#clock.now() }
  }
}
