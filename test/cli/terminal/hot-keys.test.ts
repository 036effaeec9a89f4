import { expect, test } from 'vitest'
import { listenForHotKeys } from '../../../src/cli/commands/app/dev-keys.ts'
import { openTerminal } from '../support/fake-terminal.ts'

test('hot keys q, Ctrl-C and Ctrl-D leave, a failing key does not, and raw mode ends', async () => {
  const { out, streams, raw, says, seen } = openTerminal()
  const left: string[] = []
  const fail = { help: 'fail', press: () => Promise.reject(new Error('the line was busy')) }
  const stop = listenForHotKeys(out, { x: fail }, { leave: (reason) => left.push(reason) })
  streams.stdin.write('x')
  await says('The key failed: the line was busy')
  streams.stdin.write('?')
  await says('  x  fail')
  streams.stdin.write('q\u0003\u0004')
  await expect.poll(() => left).toEqual(['key q', 'Ctrl-C', 'Ctrl-C'])
  stop()
  expect(raw).toEqual([true, false])
  streams.stdin.write('?')
  expect(seen.stderr.split('Keys:')).toHaveLength(2)
})

test('a hot key that is still at work ignores further presses', async () => {
  const { out, streams } = openTerminal()
  const presses: string[] = []
  const { promise, resolve: release } = Promise.withResolvers<void>()
  const slowly = (key: string) => ({
    help: 'wait',
    press() {
      presses.push(key)
      return promise
    },
  })
  const stop = listenForHotKeys(out, { t: slowly('t'), u: slowly('u') }, { leave: () => {} })
  streams.stdin.write('tttu')
  await expect.poll(() => presses).toContain('u')
  expect(presses).toEqual(['t', 'u'])
  release()
  stop()
})
