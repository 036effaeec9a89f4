import { describeError } from '../../src/core/errors.ts'

type Calls = Record<string, (argument: never) => unknown>

/** Answers the calls of the parent process, and exits when that ends. */
export function answerCalls(calls: Calls): void {
  process.on('message', async ({ id, name, argument }: { id: number; name: string; argument: unknown }) => {
    try {
      process.send?.({ id, value: await calls[name]?.(argument as never) })
    } catch (error) {
      process.send?.({ id, error: JSON.stringify(describeError(error)) })
    }
  })
  process.on('disconnect', () => process.exit())
}
