import { setImmediate as turn } from 'node:timers/promises'
import { UpshotError } from '../../core/errors.ts'
import { EngineLife, type EngineParts } from './engine-life.ts'

/** A run that made so many passes without coming to rest never will. */
const MAX_PASSES = 1_000

/** The engine over all its lives: it works until it comes to rest, and rises again when it dies. */
export class TestEngine {
  readonly #parts: EngineParts
  readonly #patienceMs: number
  /** What earlier lives have kept, and the runs that they worked on. */
  readonly #saved: { run: string; key: string }[] = []
  #touched = new Set<string>()
  #life: EngineLife

  /**
   * `patienceMs`: real time in which nothing moves until whatever is at work is taken for hanging.
   */
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
   * Resolves when there is nothing to do at this moment. Throws what the engine could only report,
   * and when it never rests.
   */
  async settle(): Promise<void> {
    await this.#comeToRest()
    while (this.#life.killSwitch.isKilled) await this.#rise()
    this.#life.requireSound()
  }

  async restart(): Promise<void> {
    await this.#rise()
    await this.settle()
  }

  kill(): Promise<void> {
    return this.#life.kill()
  }

  /** Run and key of each checkpoint, in the order in which they were kept. */
  get saved(): { run: string; key: string }[] {
    return [...this.#saved, ...this.#life.killSwitch.saved]
  }

  /** The runs that were worked on since it was last asked. */
  takeTouched(): Set<string> {
    const touched = new Set([...this.#touched, ...this.#life.killSwitch.takeTouched()])
    this.#touched = new Set()
    return touched
  }

  async #rise(): Promise<void> {
    const { killSwitch } = this.#life
    await this.#life.kill()
    // A write that was already on its way when the engine died reaches the store before the next
    // life looks at it, and a step's function that was at work is over: two lives of the engine
    // never act side by side.
    while (killSwitch.pending > 0) await turn()
    await this.#parts.work.end(this.#patienceMs)
    this.#saved.push(...killSwitch.saved)
    for (const run of killSwitch.takeTouched()) this.#touched.add(run)
    this.#life = new EngineLife(this.#parts)
    await this.#life.start()
    await this.#comeToRest()
  }

  /** Lets the engine work until it finds nothing more to do, or dies. */
  async #comeToRest(): Promise<void> {
    const life = this.#life
    const { killSwitch } = life
    const before = new Map(killSwitch.passes)
    for (let moves = -1; moves !== killSwitch.moves && !killSwitch.isKilled; ) {
      moves = killSwitch.moves
      life.wake()
      await turn()
      while (life.isBusy) {
        const isAlive = await this.#parts.activity.next(this.#patienceMs)
        if (!isAlive && life.isBusy)
          this.#giveUp(life.atWork, 'has not moved for a while. What does its code wait for?')
        const restless = [...killSwitch.passes].find(([run, count]) => count - (before.get(run) ?? 0) > MAX_PASSES)
        if (restless) this.#giveUp([restless[0]], `went on ${MAX_PASSES} times at the same moment`)
      }
    }
  }

  #giveUp(runs: readonly string[], why: string): never {
    const who = runs.map((run) => this.#life.describe(run)).join(', ') || 'the store'
    void this.#life.kill()
    throw new UpshotError('step_timeout', `The testbed does not come to rest: ${who} ${why}`)
  }
}
