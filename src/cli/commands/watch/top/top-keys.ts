import { describeError } from '../../../../core/errors.ts'
import type { Store } from '../../../../core/store/store.ts'
import { commandClock } from '../../../open/command-clock.ts'
import type { View } from './draw-frame.ts'
import type { Frame, PersonalRun } from './read-frame.ts'
import type { PressedKey } from './screen.ts'

type TopStore = Pick<Store, 'retryRun' | 'resumeRun' | 'cancelRun' | 'pauseWorkflow'>

/** No wider than the narrowest usual terminal. */
const KEYS = '↑↓ choose  ⏎ show  r retry  c cancel  p pause  / filter  w dashboard  q leave'
const BACK = '⏎ back  r retry  c cancel  p pause  q leave'
const WHY = 'by hand, with upshot top'

/** Texts that take the place of the tables. */
interface TopPages {
  /** The story of a run. */
  tellRun: (id: string) => Promise<string[]>
  /** A link that logs in to the dashboard. */
  linkDashboard: (frame: Frame) => Promise<string[]>
}

/** The state that keys change: the chosen run, the filter, and a question that is open. */
export class TopKeys {
  readonly #store: TopStore
  readonly #pages: TopPages
  #frame: Frame | null = null
  #chosen: string | null = null
  #note = KEYS
  /** The action behind "y"; null: nothing is asked. */
  #asked: (() => Promise<string>) | null = null
  #isTyping = false
  #panel: readonly string[] | null = null
  #wake = new AbortController()
  filter = ''
  isLeaving = false

  /** `store` writes as the operator, so that each action leaves an audit row. */
  constructor(store: TopStore, pages: TopPages) {
    this.#store = store
    this.#pages = pages
  }

  /** Aborts with the next key. */
  changed(): AbortSignal {
    return this.#wake.signal
  }

  /** The chosen run stays chosen while others come and go. */
  view(frame: Frame): View {
    this.#frame = frame
    const index = frame.forPerson.findIndex(({ id }) => id === this.#chosen)
    const note = this.#isTyping ? `/${this.filter}▏ ⏎ keeps it, esc clears it` : this.#note
    return { chosen: index, note, panel: this.#panel }
  }

  async press(key: PressedKey): Promise<void> {
    const asked = this.#asked
    this.#asked = null
    if (this.#isTyping) this.#type(key)
    else if (asked !== null) this.#note = key === 'y' ? await asked() : this.#keys()
    else await this.#act(key)
    this.#wake.abort()
    this.#wake = new AbortController()
  }

  #type(key: PressedKey): void {
    if (key === 'return') this.#isTyping = false
    else if (key === 'escape') {
      this.filter = ''
      this.#isTyping = false
    } else if (key === 'backspace') this.filter = this.filter.slice(0, -1)
    else if (key.length === 1) this.filter += key
  }

  async #act(key: PressedKey): Promise<void> {
    const run = this.#frame?.forPerson.find(({ id }) => id === this.#chosen)
    const isBack = this.#panel !== null && ['return', 'escape', 'up', 'down', 'w'].includes(key)
    if (isBack) this.#panel = null
    this.#note = this.#keys()
    if (isBack) return
    if (key === 'q') this.isLeaving = true
    else if (key === '/') this.#isTyping = true
    else if (key === 'w') await this.#open((frame) => this.#pages.linkDashboard(frame))
    else if (key === 'up' || key === 'down') this.#choose(key === 'up' ? -1 : 1)
    else if (run === undefined) this.#note = 'Choose a run with ↑ and ↓ first.'
    else if (key === 'return') await this.#open(() => this.#pages.tellRun(run.id))
    else this.#ask(key, run)
  }

  #keys(): string {
    return this.#panel === null ? KEYS : BACK
  }

  async #open(read: (frame: Frame) => Promise<string[]>): Promise<void> {
    if (this.#frame === null) return
    this.#panel = await read(this.#frame).catch((error: unknown) => [describeError(error).message])
    this.#note = this.#keys()
  }

  #choose(step: number): void {
    const runs = this.#frame?.forPerson ?? []
    const index = runs.findIndex(({ id }) => id === this.#chosen)
    const next = index === -1 ? 0 : Math.min(Math.max(index + step, 0), runs.length - 1)
    this.#chosen = runs[next]?.id ?? null
  }

  #ask(key: PressedKey, { id, workflow, status }: PersonalRun): void {
    const now = commandClock.now()
    const ask = (question: string, act: () => Promise<boolean>, done: string) => {
      this.#note = `${question} y: yes, any other key: no`
      this.#asked = async () => ((await act().catch(() => false)) ? done : 'It no longer fits: its state has changed.')
    }
    if (key === 'r' && status === 'failed') {
      ask(`Retry ${id} of ${workflow}?`, () => this.#store.retryRun(id, now), `${id} is tried again.`)
    } else if (key === 'r') {
      ask(`Let ${id} of ${workflow} go on?`, () => this.#store.resumeRun(id, { fromScratch: false }), `${id} goes on.`)
    } else if (key === 'c' && status !== 'failed') {
      ask(`Cancel ${id} of ${workflow}?`, () => this.#store.cancelRun(id, WHY, now), `${id} is canceled.`)
    } else if (key === 'p') {
      const pause = () => this.#store.pauseWorkflow(workflow, now).then(() => true)
      ask(`Pause ${workflow}?`, pause, `${workflow} is paused: upshot workflows resume ${workflow}`)
    }
  }
}
