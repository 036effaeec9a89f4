import { setImmediate as turn } from 'node:timers/promises'
import { UpshotError } from '../../core/errors.ts'
import { EngineLife, type EngineParts } from './engine-life.ts'
import type { TouchedRuns } from './kill-switch.ts'

/** Passes of a run at one moment before it counts as endless. */
const MAX_PASSES = 1_000

/** The engine over several lives: it works until it rests, and restarts when it was killed. */
export class TestEngine {
  readonly #parts: EngineParts
  readonly #patienceMs: number
  /** Checkpoints and runs of earlier lives. */
  readonly #saved: { run: string; key: string }[] = []
  #touched: TouchedRuns = { ids: new Set(), areAll: false }
  #life: EngineLife

  /** `patienceMs`: real milliseconds without movement before a pass counts as hanging. */
  constructor(parts: EngineParts, patienceMs: number) {
    this.#parts = parts
    this.#patienceMs = patienceMs
    this.#life = new EngineLife(parts)
  }

  async start(): Promise<void> {
    await this.#life.start()
    await this.settle()
  }

  /**
   * Resolves when nothing is left to do now. Throws a published fault, and `step_timeout` if a run
   * never rests.
   */
  async settle(): Promise<void> {
    await this.#workUntilRest()
    while (this.#life.killSwitch.isKilled) await this.#restartLife()
    this.#life.requireSound()
  }

  async restart(): Promise<void> {
    await this.#restartLife()
    await this.settle()
  }

  kill(): Promise<void> {
    return this.#life.kill()
  }

  endPass(run: string): void {
    this.#life.endPass(run)
  }

  /** Run and key of each saved checkpoint, in order. */
  get saved(): { run: string; key: string }[] {
    return [...this.#saved, ...this.#life.killSwitch.saved]
  }

  /** The runs that may have changed since the last call. */
  takeTouched(): TouchedRuns {
    this.#noteTouched()
    const touched = this.#touched
    this.#touched = { ids: new Set(), areAll: false }
    return touched
  }

  #noteTouched(): void {
    const { ids, areAll } = this.#life.killSwitch.takeTouched()
    this.#touched = { ids: new Set([...this.#touched.ids, ...ids]), areAll: this.#touched.areAll || areAll }
  }

  async #restartLife(): Promise<void> {
    const { killSwitch } = this.#life
    await this.#life.kill()
    // Pending writes and running step functions end first, so that two lives never act side by
    // side.
    while (killSwitch.pending > 0) await turn()
    await this.#parts.work.end(this.#patienceMs)
    this.#saved.push(...killSwitch.saved)
    this.#noteTouched()
    if (!this.#parts.seesDeaths) for (const worker of killSwitch.workers) await this.#parts.store.endWorker(worker)
    this.#life = new EngineLife(this.#parts)
    await this.#life.start()
    await this.#workUntilRest()
  }

  /** Lets the engine work until it rests or dies. */
  async #workUntilRest(): Promise<void> {
    const life = this.#life
    const { killSwitch } = life
    killSwitch.passes.clear()
    for (let moves = -1; moves !== killSwitch.moves && !killSwitch.isKilled; ) {
      moves = killSwitch.moves
      life.wake()
      await turn()
      while (life.isBusy) {
        const isAlive = await this.#parts.activity.next(this.#patienceMs)
        if (!isAlive && life.isBusy)
          this.#throwRestless(life.atWork, 'has not moved for a while. What does its code wait for?')
        const restless = [...killSwitch.passes].find(([, count]) => count > MAX_PASSES)
        if (restless) this.#throwRestless([restless[0]], `went on ${MAX_PASSES} times at the same moment`)
      }
    }
  }

  #throwRestless(runs: readonly string[], why: string): never {
    const who = runs.map((run) => this.#life.describe(run)).join(', ') || 'the store'
    void this.#life.kill()
    throw new UpshotError('step_timeout', `The testbed does not come to rest: ${who} ${why}`)
  }
}
