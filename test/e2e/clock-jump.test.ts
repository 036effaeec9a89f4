import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { NOW } from '../support/fixtures.ts'
import { postDelivery } from '../support/post-delivery.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { WEBHOOK_SECRET } from '../support/test-config.ts'

type Line = Record<string, unknown>

const DAY_MS = 86_400_000

/** An app in a process of its own, on a clock that the test moves. */
function startProcess(dataDir: string) {
  const entry = fileURLToPath(new URL('support/clocked-app.ts', import.meta.url))
  const child = spawn(process.execPath, [entry, dataDir, String(NOW)], { stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const heard: Line[] = []
  const lines = createInterface({ input: child.stdout })
  lines.on('line', (line) => heard.push(JSON.parse(line)))
  return {
    heard,
    tell: (line: string) => void child.stdin.write(`${line}\n`),
    async hear(kind: string): Promise<Line> {
      for (;;) {
        const found = heard.find((line) => line.kind === kind)
        if (found) return found
        await once(lines, 'line')
      }
    },
    async end() {
      child.stdin.end()
      await once(child, 'exit')
    },
  }
}

test('a clock that jumps a day forward in two processes takes no run and begins no step twice', async () => {
  const dataDir = tempFolder()
  const first = startProcess(dataDir)
  const { endpoint } = await first.hear('ready')
  await postDelivery(String(endpoint), WEBHOOK_SECRET, 'evt_1')
  await first.hear('begun')
  const second = startProcess(dataDir)
  await second.hear('ready')

  second.tell(`jump ${DAY_MS}`)
  expect(await second.hear('jumped')).toEqual({ kind: 'jumped', recovered: 0 })
  first.tell(`jump ${2 * DAY_MS}`)
  expect(await first.hear('jumped')).toEqual({ kind: 'jumped', recovered: 0 })

  first.tell('go evt_1')
  await first.hear('run.completed')
  await Promise.all([first.end(), second.end()])
  const all = [...first.heard, ...second.heard].map(({ kind }) => kind)
  expect(all.filter((kind) => kind === 'begun')).toHaveLength(1)
  expect(all.filter((kind) => kind === 'run.completed')).toHaveLength(1)
  expect(all).not.toContain('runs.recovered')
  expect(all).not.toContain('run.lost')
  // The limit of a step is in time that has passed.
  expect(all).not.toContain('step.failed')
})
