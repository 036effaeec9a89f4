import type { Command } from '@commander-js/extra-typings'
import { makeLoginLink } from '../../../../app/console/make-login-link.ts'
import { describeError } from '../../../../core/errors.ts'
import { waitUntil } from '../../../../core/time.ts'
import type { Cli } from '../../../command.ts'
import { commandClock } from '../../../open/command-clock.ts'
import { call, type Operations } from '../../../open/operations.ts'
import { onInterrupt } from '../../../terminal/on-interrupt.ts'
import { tellStory } from '../../runs/show.ts'
import { drawFrame, drawView, type View } from './draw-frame.ts'
import { type Frame, Frames } from './read-frame.ts'
import { openScreen, type PressedKey } from './screen.ts'

const FRAME_MS = 1_000

/** The right to read the database is the right to log in; at a server, a person logs in there. */
async function linkDashboard({ local }: Operations, { system }: Frame): Promise<string[]> {
  if (local === null) return ['The dashboard is at the address of the server, which asks for a login of yours.']
  const { store, config } = local
  const adminUrl = config.admin.url ?? system?.processes[0]?.adminUrl
  if (adminUrl === undefined) return ['No process runs, so no dashboard answers. Start one with: upshot start']
  const { url } = await makeLoginLink(store, { config, adminUrl, role: 'admin' }, commandClock.now())
  return ['The dashboard, with a login that works once within ten minutes:', '', url]
}

export function define(command: Command, { out, project }: Cli): void {
  command.option('--once', 'print one frame and end').action(({ once = false }) =>
    project.withOperations(async (operations) => {
      const frames = new Frames(operations)
      const ended = onInterrupt()
      if (once || !out.isInteractive) {
        const frame = await frames.read(commandClock.now(), '')
        const screen = { paint: out.paint, width: out.width ?? 120, height: 30 }
        return out.result(frame, () => drawFrame(frame, -1, screen))
      }
      const keys = new TopKeys(operations, {
        tellRun: (id) => tellStory(operations, id, { paint: (_style, text) => text, width: screen.width }),
        linkDashboard: (frame) => linkDashboard(operations, frame),
      })
      const screen = openScreen(out, (key) => void keys.press(key).then(redraw, () => {}))
      let frame = await frames.read(commandClock.now(), '')
      const redraw = () => screen.draw(drawView(frame, keys.view(frame), screen))
      try {
        while (!keys.isLeaving && !ended.aborted) {
          redraw()
          const next = commandClock.now() + FRAME_MS
          await waitUntil(commandClock, next, AbortSignal.any([ended, keys.changed()])).catch(() => {})
          frame = await frames.read(commandClock.now(), keys.filter)
        }
      } finally {
        screen.close()
      }
    }),
  )
}

type Run = Frame['forPerson'][number]

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
  readonly #operations: Operations
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

  constructor(operations: Operations, pages: TopPages) {
    this.#operations = operations
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

  #ask(key: PressedKey, { id, workflow, status }: Run): void {
    const operations = this.#operations
    const ask = (question: string, act: () => Promise<unknown>, done: string) => {
      this.#note = `${question} y: yes, any other key: no`
      this.#asked = () =>
        act().then(
          () => done,
          (error: unknown) => describeError(error).message,
        )
    }
    const input = { params: { id }, body: {} }
    if (key === 'r' && status === 'failed') {
      ask(`Retry ${id} of ${workflow}?`, () => call(operations, 'POST /runs/:id/retry', input), `${id} is tried again.`)
    } else if (key === 'r') {
      ask(`Let ${id} of ${workflow} go on?`, () => call(operations, 'POST /runs/:id/resume', input), `${id} goes on.`)
    } else if (key === 'c' && status !== 'failed') {
      const why = { ...input, body: { reason: WHY } }
      ask(`Cancel ${id} of ${workflow}?`, () => call(operations, 'POST /runs/:id/cancel', why), `${id} is canceled.`)
    } else if (key === 'p') {
      const pause = () => call(operations, 'POST /workflows/:id/pause', { params: { id: workflow }, body: {} })
      ask(`Pause ${workflow}?`, pause, `${workflow} is paused: upshot workflows resume ${workflow}`)
    }
  }
}
