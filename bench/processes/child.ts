import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'

const ANSWER_WITHIN_MS = 120_000
const EXIT_WITHIN_MS = 10_000

const living = new Set<ChildProcess>()

/** Kills every child that is still running. */
export function killChildren(): void {
  for (const child of living) child.kill('SIGKILL')
}

/** Has `killChildren` kill this child, too. */
export function adopt(child: ChildProcess): void {
  living.add(child)
  child.once('exit', () => living.delete(child))
}

/** Returns a program's output. Rejects when it fails or runs longer than `withinSeconds`. */
export async function runProgram(command: string, args: readonly string[], withinSeconds: number): Promise<string> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  adopt(child)
  const timer = setTimeout(() => child.kill('SIGKILL'), withinSeconds * 1_000)
  const output: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk))
  const [code] = await once(child, 'close')
  clearTimeout(timer)
  const text = Buffer.concat(output).toString()
  if (code !== 0) throw new Error(`${command} ended with ${code ?? 'a signal'} within ${withinSeconds} s. ${text}`)
  return text
}

/** A process that answers calls with `answerCalls`. */
export interface Target extends AsyncDisposable {
  /** Rejects after this time, two minutes by default. */
  call<T>(name: string, argument?: unknown, withinMs?: number): Promise<T>
  /** Ends it at once. */
  kill(): void
}

/** Starts a module of `bench/` in a process that ends when disposed of, or with this process. */
export function startProcess(file: string, execArgv: readonly string[] = []): Target {
  const child = fork(new URL(`../${file}`, import.meta.url), { execArgv: [...execArgv] })
  adopt(child)
  let calls = 0
  return {
    call: <T>(name: string, argument?: unknown, withinMs = ANSWER_WITHIN_MS) =>
      call<T>(child, { id: calls++, name, argument }, withinMs),
    kill: () => void child.kill('SIGKILL'),
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const timer = setTimeout(() => child.kill('SIGKILL'), EXIT_WITHIN_MS)
      const exit = once(child, 'exit')
      if (child.connected) child.disconnect()
      await exit
      clearTimeout(timer)
    },
  }
}

function call<T>(
  child: ChildProcess,
  request: { id: number; name: string; argument: unknown },
  withinMs: number,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const settle = (end: () => void) => {
      clearTimeout(timer)
      child.off('message', hear).off('exit', fail)
      end()
    }
    const hear = (answer: { id: number; value?: unknown; error?: string }) => {
      if (answer.id !== request.id) return
      settle(() => (answer.error === undefined ? resolve(answer.value as T) : reject(new Error(answer.error))))
    }
    const fail = () => settle(() => reject(new Error(`the target did not answer "${request.name}"`)))
    const timer = setTimeout(fail, withinMs)
    child.on('message', hear).on('exit', fail)
    child.send(request)
  })
}
