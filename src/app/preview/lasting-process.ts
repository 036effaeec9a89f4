import { describeError, UpshotError } from '../../core/errors.ts'
import type { PreviewRules } from '../../engine/preview/preview-run.ts'
import { PREVIEWED_NOTHING } from '../../engine/preview/previewed.ts'
import type { IsolatedProcess, PreviewedJob, PreviewJob } from './isolated-process.ts'

/** Runs that may end or block their process, 30 s each; one more ends the whole. */
const MAX_ENDS = 10

/**
 * An isolated process that outlives its runs. Where one ends or blocks it, each run of that call is
 * previewed again by itself. The one to blame fails.
 */
export class LastingProcess implements AsyncDisposable {
  readonly code: IsolatedProcess['code']
  readonly settings: IsolatedProcess['settings']
  readonly #begin: () => Promise<IsolatedProcess>
  /** Null once it has ended, until the next call. */
  #shared: Promise<IsolatedProcess> | null
  /** Calls whose process has ended take their turns. */
  #apart: Promise<unknown> = Promise.resolve()
  #ends = 0

  static async open(begin: () => Promise<IsolatedProcess>): Promise<LastingProcess> {
    return new LastingProcess(begin, await begin())
  }

  private constructor(begin: () => Promise<IsolatedProcess>, first: IsolatedProcess) {
    this.#begin = begin
    this.#shared = Promise.resolve(first)
    this.code = first.code
    this.settings = first.settings
  }

  /** As that of an isolated process. Throws `internal` once over ten runs have ended theirs. */
  async preview(jobs: readonly PreviewJob[], rules: PreviewRules): Promise<PreviewedJob[]> {
    this.#shared ??= this.#begin()
    const shared = this.#shared
    const isolated = await shared
    try {
      return await isolated.preview(jobs, rules)
    } catch (error) {
      if (!isEndOfProcess(error)) throw error
    }
    if (this.#shared === shared) this.#shared = null
    await isolated[Symbol.asyncDispose]()
    const turn = this.#apart.then(() => this.#previewApart(jobs, rules))
    this.#apart = turn.catch(() => {})
    return turn
  }

  async #previewApart(jobs: readonly PreviewJob[], rules: PreviewRules): Promise<PreviewedJob[]> {
    const previewed: PreviewedJob[] = []
    let isolated = await this.#begin()
    try {
      for (const job of jobs) {
        try {
          previewed.push(await isolated.previewOne(job, rules))
        } catch (error) {
          if (!isEndOfProcess(error) || ++this.#ends > MAX_ENDS) throw error
          previewed.push(failedPreview(new Error('The code ended the process that previewed it, or blocked it.')))
          await isolated[Symbol.asyncDispose]()
          isolated = await this.#begin()
        }
      }
      return previewed
    } finally {
      await isolated[Symbol.asyncDispose]()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#shared)?.[Symbol.asyncDispose]()
  }
}

/** Whether a preview ended with its process, of which another run may be the cause. */
export function isEndOfProcess(error: unknown): boolean {
  return error instanceof UpshotError && error.code === 'internal'
}

/** The preview of a run that could not be made. */
export function failedPreview(error: unknown): PreviewedJob {
  const end = { kind: 'failed', error: describeError(error) } as const
  return { ...PREVIEWED_NOTHING, end, isSteady: true, undeclared: [] }
}
