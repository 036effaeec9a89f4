import type { EngineEndCause } from '../../../core/blockage.ts'
import type { Failure } from '../../../core/errors.ts'
import type { Harm } from '../../../core/runs/blame.ts'
import type { CodeAtWork } from '../../../engine/pass/outside/code-at-work.ts'
import type { SkippedModule } from '../../../project/workflows/load-workflows.ts'

/** How an engine ended that nobody had asked to stop. */
export interface EngineEnd {
  cause: EngineEndCause
  error: Failure
  /** Runs whose code was seen to end it. Null or absent: nobody knows. */
  harm?: Harm | null
  /** The module that did it, which the next engine leaves out. */
  skipped?: SkippedModule | null
}

export function describeExit(code: number, found: CodeAtWork | null): EngineEnd {
  const how = `called process.exit(${code})${found?.place ? ` at ${found.place}` : ''}`
  const error = { name: 'Error', message: `The code of a workflow ${how}.` }
  return { cause: 'exited', error, harm: found && { runs: [found.run], how } }
}
