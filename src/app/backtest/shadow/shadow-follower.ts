import { describeError, UpshotError } from '../../../core/errors.ts'
import type { Publish } from '../../../core/notices.ts'
import { beginShadow, isBehind, newGroups, type ShadowBook } from '../../../core/safety/differences/shadow-book.ts'
import type { KeptShadow } from '../../../core/store/health/shadows.ts'
import type { Store } from '../../../core/store/store.ts'
import type { Clock } from '../../../core/time.ts'
import type { Config } from '../../../project/config/load-config.ts'
import { listShadows, type ShadowModule } from '../../../project/workflows/list-shadows.ts'
import { acceptedFile, readAccepted } from '../accepted-keys.ts'
import type { ShadowProcess } from './shadow-process.ts'

interface Parts {
  store: Store
  clock: Clock
  publish: Publish
  /** Of the processes of shadows, as the system counts it. Default: the lowest. */
  priority?: number
}

/** A shadow's module, with its state in this process. */
interface Followed extends ShadowModule {
  shadow: ShadowProcess | null
  /** Rooms, or processes, that have ended one after the other. */
  ends: number
  /** It is left alone until its code changes. */
  isOff: boolean
}

/** Time between two looks, with shadows and without. */
const PERIOD_MS = 2_500
const IDLE_PERIOD_MS = 10_000
/** A look that finds nothing is saved this long after the one before. */
const IDLE_COMMIT_MS = 60_000
/** Rooms of a shadow that may end in a row. */
const MAX_ENDS = 3

/**
 * Has finished runs played with the shadows of their workflows, and counts the differences. A
 * shadow has a process of its own for that, which is all that it can break. See decision 87.
 */
export class ShadowFollower {
  readonly #config: Config
  readonly #parts: Parts
  readonly #stopping = new AbortController()
  #followed: Followed[] = []
  #cancel = () => {}
  #following: Promise<void> = Promise.resolve()

  constructor(config: Config, parts: Parts) {
    this.#config = config
    this.#parts = parts
  }

  start(): void {
    this.#following = this.#run()
  }

  /** Resolves when nothing more is played or written. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#cancel()
    await Promise.all(this.#followed.map(closeRoom))
    await this.#following
    await Promise.all(this.#followed.map(closeRoom))
  }

  async #run(): Promise<void> {
    try {
      await this.#refresh()
      for (const each of this.#followed) if (!each.isOff) await this.#follow(each)
    } catch (error) {
      this.#report(error)
    }
    if (this.#stopping.signal.aborted) return
    const { clock } = this.#parts
    const wait = this.#followed.some(({ isOff }) => !isOff) ? PERIOD_MS : IDLE_PERIOD_MS
    this.#cancel = clock.at(clock.now() + wait, () => this.start())
  }

  /** Edited code is another shadow. */
  async #refresh(): Promise<void> {
    const found = await listShadows(this.#config.workflowsDir)
    const known = new Map(this.#followed.map((each) => [`${each.file} ${each.code}`, each]))
    const next = found.map((module) => {
      return known.get(`${module.file} ${module.code}`) ?? { ...module, shadow: null, ends: 0, isOff: false }
    })
    await Promise.all(this.#followed.filter((each) => !next.includes(each)).map(closeRoom))
    this.#followed = next
  }

  async #follow(each: Followed): Promise<void> {
    try {
      const { ShadowProcess } = await import('./shadow-process.ts')
      const { priority } = this.#parts
      each.shadow ??= await ShadowProcess.open(this.#config, each, { signal: this.#stopping.signal, priority })
      await this.#catchUp(each, each.shadow)
      each.ends = 0
    } catch (error) {
      if (this.#stopping.signal.aborted) return
      const isInvalid = isError(error, 'invalid_workflow')
      const isRoomLost = each.shadow === null ? !isError(error, 'store_unavailable') : isError(error, 'internal')
      if (!isInvalid && !isRoomLost) return this.#report(error)
      await closeRoom(each)
      each.ends += 1
      each.isOff = isInvalid || each.ends >= MAX_ENDS
      if (each.isOff) this.#parts.publish({ kind: 'shadow.ended', file: each.file, error: describeError(error) })
    }
  }

  async #catchUp({ file, code }: ShadowModule, shadow: ShadowProcess): Promise<void> {
    const { store, clock } = this.#parts
    const { workflow } = shadow
    for (let isMore = true; isMore && !this.#stopping.signal.aborted; ) {
      const kept = (await store.listShadows(workflow)).find((each) => each.code === code)
      const { book, version } = kept ?? { book: beginShadow(file, clock.now()), version: 0 }
      const next = kept ? await shadow.look(book, clock.now()) : book
      isMore = kept === undefined || isBehind(next, clock.now())
      if (version === 0 || hasNews(book, next)) await this.#save(workflow, { code, book: next, version }, book)
      else isMore = false
    }
  }

  /** Tells of new differences, unless another process has counted them first. */
  async #save(workflow: string, shadow: KeptShadow, before: ShadowBook): Promise<void> {
    const { store, publish } = this.#parts
    if (!(await store.saveShadow(workflow, shadow))) return
    const accepted = readAccepted(acceptedFile(this.#config.workflowsDir, workflow))
    for (const { key, samples } of newGroups(before, shadow.book)) {
      if (accepted.has(key)) continue
      const { file } = shadow.book
      publish({ kind: 'shadow.differs', workflow, file, difference: key, sample: samples[0]?.run ?? null })
    }
  }

  #report(error: unknown): void {
    if (this.#stopping.signal.aborted) return
    this.#parts.publish({ kind: 'fault', where: 'following the runs of shadows', error: describeError(error) })
  }
}

/** An idle minute is one commit. */
function hasNews(book: ShadowBook, next: ShadowBook): boolean {
  const hasMoved = next.followed - book.followed >= IDLE_COMMIT_MS
  return hasMoved || next.found.runs > book.found.runs || String(next.late) !== String(book.late)
}

function isError(error: unknown, code: UpshotError['code']): boolean {
  return error instanceof UpshotError && error.code === code
}

async function closeRoom(each: Followed): Promise<void> {
  const { shadow } = each
  each.shadow = null
  await shadow?.[Symbol.asyncDispose]()
}
