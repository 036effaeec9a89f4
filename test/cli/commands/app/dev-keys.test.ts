import { expect, onTestFinished, test } from 'vitest'
import { defineWorkflow } from '../../../../src/author/define-workflow.ts'
import { devKeys } from '../../../../src/cli/commands/app/dev-keys.ts'
import { listenForHotKeys } from '../../../../src/cli/terminal/hot-keys.ts'
import { startTestApp } from '../../../support/test-app.ts'
import { openTerminal } from '../../support/fake-terminal.ts'

const echo = defineWorkflow({ id: 'echo', on: '*', run: ({ event }) => event.id })

test('in dev, key t sends a file through, r resends the last event, and o prints the addresses', async () => {
  const { app, urls, hear, heard } = await startTestApp({ workflows: [echo] })
  const { out, streams, says } = openTerminal()
  onTestFinished(listenForHotKeys(out, devKeys({ app, urls }, out), { leave: () => {} }))
  streams.stdin.write('t')
  await says('started its transfer to storage_b:/archive/.')
  await hear('delivery.received', ({ type }) => type === 'transfer.completed')
  streams.stdin.write('r')
  await says(': accepted.')
  const runs = heard.filter(({ kind }) => kind === 'delivery.received').length
  expect(runs).toBeGreaterThanOrEqual(4)
  streams.stdin.write('o')
  await says(`${urls.sandbox}/account`)
  await says(urls.endpoints.sandbox ?? '')
})

test('in dev, key f makes the sandbox worse step by step, and then healthy again', async () => {
  const { app, urls, sandbox } = await startTestApp()
  const { out, streams, says } = openTerminal()
  onTestFinished(listenForHotKeys(out, devKeys({ app, urls }, out), { leave: () => {} }))
  for (const state of ['slow', 'unreliable', 'down', 'a bad sender']) {
    streams.stdin.write('f')
    await says(`The service is now ${state}`)
    expect(sandbox.faults.list().length).toBeGreaterThan(0)
  }
  streams.stdin.write('f')
  await says('The service is now healthy.')
  expect(sandbox.faults.list()).toEqual([])
})
