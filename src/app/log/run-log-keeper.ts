import { describeError } from '../../core/errors.ts'
import type { NoticeOf } from '../../core/notices.ts'
import { RUN_LOG_TEXT, type RunLogLine } from '../../core/runs/annotations/run-log.ts'
import type { Store } from '../../core/store/store.ts'
import type { Clock } from '../../core/time.ts'
import { type KnownSecrets, redactFacts, redactText } from '../../notices/log/redact.ts'
import type { NoticeBus } from '../../notices/notice-bus.ts'

/** Lines wait this long for others, so that a chatty run costs few commits. */
const WAIT_MS = 50
/** Lines that wait at most; a flood beyond that is only in the log. */
const MAX_WAITING = 5_000

interface KeeperParts {
  store: Pick<Store, 'saveRunLog'>
  clock: Clock
  secrets: KnownSecrets
  notices: NoticeBus
}

/** Keeps the log lines of runs in the store. Lines of the last 50 ms are lost in a crash. */
export class RunLogKeeper {
  readonly #parts: KeeperParts
  readonly #unsubscribe: () => void
  #waiting: RunLogLine[] = []
  #cancel: (() => void) | null = null
  #saving: Promise<void> = Promise.resolve()

  constructor(parts: KeeperParts) {
    this.#parts = parts
    this.#unsubscribe = parts.notices.subscribe('run.log', (notice) => this.#take(notice))
  }

  /** Resolves once every line is saved. */
  async stop(): Promise<void> {
    this.#unsubscribe()
    this.#save()
    await this.#saving
  }

  #take({ run, level, message, facts }: NoticeOf<'run.log'>): void {
    if (this.#waiting.length >= MAX_WAITING) return
    const { clock, secrets } = this.#parts
    const known = (text: string) => secrets.redact(text)
    const safe = redactFacts(facts, known)
    this.#waiting.push({
      runId: run,
      at: clock.now(),
      level,
      message: redactText(message, known).slice(0, RUN_LOG_TEXT),
      facts: Object.keys(safe).length === 0 ? null : fitFacts(JSON.stringify(safe)),
    })
    this.#cancel ??= clock.at(clock.now() + WAIT_MS, () => this.#save())
  }

  #save(): void {
    this.#cancel?.()
    this.#cancel = null
    const lines = this.#waiting
    if (lines.length === 0) return
    this.#waiting = []
    const { store, notices } = this.#parts
    const report = (error: unknown) =>
      notices.publish({ kind: 'fault', where: 'keeping the log lines of runs', error: describeError(error) })
    this.#saving = this.#saving.then(() => store.saveRunLog(lines)).catch(report)
  }
}

/** JSON text stays JSON: facts that are too long are replaced by their size. */
function fitFacts(json: string): string {
  return json.length <= RUN_LOG_TEXT ? json : JSON.stringify({ tooLong: `${json.length} characters` })
}
