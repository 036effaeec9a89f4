import { describeError, UpshotError } from '../../../core/errors.ts'
import type { Publish } from '../../../core/notices.ts'
import type { CallingRun, OutsideAct, OutsideCall } from '../../../core/safety/ledger/outside-act.ts'
import type { Store } from '../../../core/store/store.ts'
import type { Clock } from '../../../core/time.ts'
import type { OutsideWatch } from '../../worker-parts.ts'
import { findCreator } from '../find-call-site.ts'
import { stepAtWork } from '../scope.ts'
import { whereNow } from './undeclared.ts'

interface OutsideParts {
  publish: Publish
  clock: Pick<Clock, 'now'>
  /** Keeps a row of each. Default: there is only the notice. */
  store?: Pick<Store, 'noteOutside'>
  /** Whether a host is the service's, so that its calls belong to `files`. Default: none is. */
  isServiceHost?: (host: string) => boolean
  /** Workflows whose processes and threads are expected. Default: none. */
  processes?: readonly string[]
  /** False: it only refuses. Default true. */
  tells?: boolean
}

/** Ways of one process to go unseen: each starts what nobody watches. */
const UNSEEN: ReadonlySet<string> = new Set(['child process', 'worker thread'])
/** Most notices of one process, most runs and kinds that it remembers. */
const MAX_TOLD = 1_000
/** Most rows of one workflow and kind in a day, by one process. */
const MAX_ROWS = 100
const DAY_MS = 86_400_000

/**
 * Tells what authors' code does past the guard and the ledger. The log has a line for each place,
 * the ledger a row for each run and kind. It only holds deletes by a client of the code's own.
 */
export class Outside implements OutsideWatch {
  /** Whether a host is the service's. */
  isServiceHost: (host: string) => boolean
  readonly #parts: OutsideParts
  readonly #told = new Set<string>()
  readonly #runs = new Map<string, Set<string>>()
  readonly #rows = new Map<string, { day: number; count: number }>()
  readonly #saving = new Set<Promise<void>>()

  constructor(parts: OutsideParts) {
    this.#parts = parts
    this.isServiceHost = parts.isServiceHost ?? (() => false)
  }

  see(by: CallingRun | null, made: OutsideCall): void {
    if (this.#parts.tells === false) return
    const { way, method, host = null } = made
    const where = this.#judge(by, made)
    if (where === null) return
    const { isOurs, isClient, place } = findCreator()
    if (isOurs && !(isClient && !UNSEEN.has(way))) return
    // A library connects when it likes, and the request that it does that for is seen itself.
    if (place === null && (way === 'connect' || by === null)) return
    const name = isClient ? 'createFilesClient' : way
    const act = { call: method == null ? name : `${name} ${method}`, where, host, place, step: stepNow() }
    // The request that opens a connection is made after it, and says more.
    if (way === 'connect') queueMicrotask(() => this.#tell(by, act))
    else this.#tell(by, act)
  }

  askDelete(by: CallingRun, host: string): void {
    if (!this.isServiceHost(host)) return
    const { place } = findCreator()
    this.#tell(by, { call: 'createFilesClient DELETE', where: 'refused', host, place, step: stepNow() })
    const message =
      `The workflow "${by.workflow}" deletes with a files client of its own, past the guard and the ledger. ` +
      'Use `files` of the run, which acts on the account of its event. For another account of the service, ' +
      'add it with "upshot accounts add <name>" and send that account an event. Nothing was deleted.'
    throw new UpshotError('undeclared_effect', message)
  }

  async settled(): Promise<void> {
    await Promise.all(this.#saving)
  }

  #judge(by: CallingRun | null, { way, method, host = null }: OutsideCall): OutsideAct['where'] | null {
    const where = whereNow(method)
    const isUnseen = UNSEEN.has(way)
    const isInStep = where === null || where === 'in_effect' || (isUnseen && where === 'in_read')
    if (!isInStep) return where
    if (isUnseen) return this.#parts.processes?.includes(by?.workflow ?? '') ? null : 'unseen'
    return host !== null && this.isServiceHost(host) ? 'past_files' : null
  }

  #tell(by: CallingRun | null, act: Omit<OutsideAct, 'at' | 'run' | 'workflow'>): void {
    const { run, workflow } = by ?? { run: null, workflow: null }
    // The connection of a request is no second call.
    const what = JSON.stringify([act.step, act.where, act.place])
    if (!this.#isNew(run, what)) return
    const key = `${workflow} ${what}`
    if (!this.#told.has(key) && this.#told.size < MAX_TOLD) {
      this.#told.add(key)
      this.#parts.publish({ kind: 'code.undeclared', run, workflow, ...act })
    }
    const kind = JSON.stringify([workflow, act.call, act.where])
    if (this.#hasRoom(kind)) this.#keep({ ...act, run, workflow, at: this.#parts.clock.now() })
  }

  #isNew(run: string | null, what: string): boolean {
    const id = run ?? ''
    const known = this.#runs.get(id) ?? new Set()
    if (known.has(what)) return false
    this.#runs.set(id, known.add(what))
    const [oldest] = this.#runs.keys()
    if (this.#runs.size > MAX_TOLD && oldest !== undefined) this.#runs.delete(oldest)
    return true
  }

  #hasRoom(kind: string): boolean {
    const day = Math.floor(this.#parts.clock.now() / DAY_MS)
    const known = this.#rows.get(kind)
    const count = known?.day === day ? known.count + 1 : 1
    if (this.#rows.size < MAX_TOLD || known) this.#rows.set(kind, { day, count })
    return count <= MAX_ROWS
  }

  #keep(act: OutsideAct): void {
    const { store, publish } = this.#parts
    const saving = store?.noteOutside(act).catch((error: unknown) => {
      publish({ kind: 'fault', where: 'noting a call past the ledger', error: describeError(error) })
    })
    if (saving === undefined) return
    this.#saving.add(saving)
    void saving.finally(() => this.#saving.delete(saving))
  }
}

/** Key of the step whose function calls; null outside steps. */
function stepNow(): string | null {
  return stepAtWork()?.key ?? null
}
