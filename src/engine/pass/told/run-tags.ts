import { MAX_TAGS, type Tags } from '../../../core/runs/told/tags.ts'

/** The tags of a run as a pass knows them, and those of them that are not written yet. */
export class RunTags {
  readonly #all = new Map<string, string>()
  #unsaved: Map<string, string> | null = null

  /** `known`: those in the database. `more`: those that it does not have yet. */
  constructor(known: Tags, more: Tags) {
    for (const [name, value] of Object.entries(known)) this.#all.set(name, value)
    for (const [name, value] of Object.entries(more)) this.set(name, value)
  }

  get all(): Tags {
    return Object.fromEntries(this.#all)
  }

  /** False where the run has as many others as it may have. */
  set(name: string, value: string): boolean {
    if (this.#all.get(name) === value) return true
    if (!this.#all.has(name) && this.#all.size >= MAX_TAGS) return false
    this.#all.set(name, value)
    this.#unsaved ??= new Map()
    this.#unsaved.set(name, value)
    return true
  }

  /** Those to be written now; undefined without any. */
  take(): Tags | undefined {
    if (this.#unsaved === null) return undefined
    const taken = Object.fromEntries(this.#unsaved)
    this.#unsaved = null
    return taken
  }
}
