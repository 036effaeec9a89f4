import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { startGroup } from '../support/start-group.ts'

let started = 0

test('a test ends while a process is at work that its program has started', async () => {
  const program = startGroup('sh', ['-c', 'sleep 600 & echo $!; wait'])
  for await (const line of createInterface({ input: program.stdout })) {
    started = Number(line)
    return
  }
})

test('no process that a test has started is left after it', async () => {
  expect(started).toBeGreaterThan(0)
  await expect.poll(() => isAtWork(started)).toBe(false)
})

function isAtWork(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
