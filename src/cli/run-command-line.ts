import { redactUrls } from '../core/errors.ts'
import { COMMAND_TREE } from './commands/command-tree.ts'
import { buildProgram } from './program.ts'
import { whileInterruptible } from './terminal/on-interrupt.ts'
import { createOutput, type OutputStreams, readGlobalOptions } from './terminal/output.ts'
import { describeProblem } from './terminal/problem.ts'

/** Runs one `upshot` command, writes its result or problem, and returns its exit code. */
export async function runCommandLine(args: readonly string[], streams: OutputStreams): Promise<number> {
  const out = createOutput(readGlobalOptions(args), streams)
  const help: string[] = []
  try {
    const program = buildProgram(COMMAND_TREE, out, (text) => help.push(text))
    await whileInterruptible(() => program.parseAsync(args, { from: 'user' }))
    return out.exit
  } catch (error) {
    // Nobody reads the rest of a stream; the program tells of one that took no more.
    if (isClosedPipe(error) || isLoss(error, streams)) return out.exit
    const problem = describeProblem(error)
    if (problem !== null) {
      out.fail(problem)
      if (error instanceof Error && problem.code !== 'usage') out.detail(redactUrls(error.stack ?? error.message))
      return problem.exit
    }
    const text = help.join('').trimEnd()
    out.result({ text }, () => [text])
    return 0
  }
}

function isLoss(error: unknown, { stdout }: OutputStreams): boolean {
  return error instanceof Error && 'errored' in stdout && stdout.errored === error
}

function isClosedPipe(error: unknown): boolean {
  const { code, syscall } = (error ?? {}) as NodeJS.ErrnoException
  return code === 'EPIPE' && syscall === 'write'
}
