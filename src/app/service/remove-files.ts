import type { Removal, SeenFile } from '../../admin/ports/surroundings.ts'
import { describeError } from '../../core/errors.ts'
import type { FileState } from '../../core/safety/effect.ts'
import { coversEffect, describeScope, type EffectStop } from '../../core/safety/stop.ts'
import type { FileEntry } from '../../core/service/file.ts'
import type { EndByHand } from '../../core/store/effects.ts'
import { listSwitches } from '../../core/store/list-switches.ts'
import type { Store } from '../../core/store/store.ts'
import type { Clock } from '../../core/time.ts'
import type { FilesClient } from '../../files/index.ts'

type Outcome = Pick<Removal, 'outcome' | 'error'>

interface RemovalParts {
  files: Pick<FilesClient, 'delete'>
  ledger: HandLedger
}

/** Concurrent deletes. More would only wait for the account's rate limit. */
const CONCURRENCY = 4

/**
 * Deletes each file as `removeFile` does, and continues after a failure. After an abort,
 * deletes in flight finish; the rest is `not_tried`. Rejects once none is in flight any more.
 */
export async function removeFiles(
  parts: RemovalParts,
  found: readonly SeenFile[],
  { signal, onDone }: { signal: AbortSignal; onDone: (done: number) => void },
): Promise<Removal[]> {
  const removals = found.map((file): Removal => ({ file, outcome: 'not_tried', error: null }))
  let next = 0
  let done = 0
  const faults: unknown[] = []
  const work = async () => {
    while (!signal.aborted && faults.length === 0) {
      const removal = removals[next++]
      if (removal === undefined) return
      Object.assign(removal, await removeFile(parts, removal.file))
      onDone(++done)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, () => work().catch((error: unknown) => faults.push(error))))
  if (faults.length > 0) throw faults[0]
  return removals
}

/**
 * Deletes a file for a person, if it is unchanged. Its rows are in the ledger. A stop
 * holds it, even one that comes meanwhile. Rejects only where the ledger cannot be written.
 */
async function removeFile({ files, ledger }: RemovalParts, file: SeenFile): Promise<Outcome> {
  const begun = await ledger.begin(file)
  if ('stop' in begun) return describeStop(begun.stop)
  let held: EffectStop | null = null
  let before: FileState | null = null
  const onSeen = ({ path, size: bytes, modifiedAt }: FileEntry): void => {
    before = { path, bytes, modifiedAt }
  }
  const beforeSend = async () => {
    held = await ledger.findStop(file)
    if (held !== null) throw new Error(describeScope(held))
  }
  const removed = await files.delete(file, { expect: file, beforeSend, onSeen }).then(
    ({ outcome }): Outcome => ({ outcome, error: null }),
    (error): Outcome => {
      if (held !== null) return describeStop(held)
      return { outcome: 'failed', error: describeError(error).message }
    },
  )
  await ledger.end(file, begun.seq, { ...removed, before })
  return removed
}

function describeStop(stop: EffectStop): Outcome {
  return { outcome: 'stopped', error: `${describeScope(stop)} are stopped: ${stop.reason}` }
}

/** A person who deletes, and the account of the service that it is done in. */
interface Hand {
  actor: string
  reason: string | null
  account: string
}

type HandStore = Pick<Store, 'beginByHand' | 'endByHand' | 'listStops' | 'listActions'>

const PLANNING = 'with UPSHOT_EFFECTS=plan nothing acts'

/** Writes the deletes of a person into the ledger, and obeys the stops. */
export class HandLedger {
  readonly #store: HandStore
  readonly #who: Hand
  readonly #clock: Pick<Clock, 'now'>

  constructor(store: HandStore, who: Hand, clock: Pick<Clock, 'now'>) {
    this.#store = store
    this.#who = who
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
