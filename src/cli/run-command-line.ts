import { COMMANDS } from './command-tree.ts'
import { createOutput, type OutputStreams, readGlobalOptions } from './output.ts'
import { describeProblem } from './problem.ts'
import { buildProgram } from './program.ts'

/** Runs one `upshot` command: its result or its problem is written to the streams. Gives the exit code. */
export async function runCommandLine(args: readonly string[], streams: OutputStreams): Promise<number> {
  const out = createOutput(readGlobalOptions(args), streams)
  const help: string[] = []
  try {
    await buildProgram(COMMANDS, out, (text) => help.push(text)).parseAsync(args, { from: 'user' })
    return out.exit
  } catch (error) {
    const problem = describeProblem(error)
    if (problem !== null) {
      out.fail(problem)
      return problem.exit
    }
    const text = help.join('').trimEnd()
    out.result({ text }, () => [text])
    return 0
  }
}
