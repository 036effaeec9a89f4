import { expect, onTestFinished, test } from 'vitest'
import { defineWorkflow } from '../../../../src/author/define-workflow.ts'
import { devKeys, listenForHotKeys } from '../../../../src/cli/commands/app/dev-keys.ts'
import { startTestApp } from '../../../support/test-app.ts'
import { openTerminal } from '../../support/fake-terminal.ts'

const echo = defineWorkflow({ id: 'echo', on: '*', run: ({ event }) => event.id })

test('in dev, key t sends a file through, r resends the last event, and o prints the addresses', async () => {
  const { app, urls, hear, heard } = await startTestApp({ workflows: [echo] })
  const { out, streams, says } = openTerminal()
  onTestFinished(listenForHotKeys(out, devKeys({ app, urls }, out), { leave: () => {} }))
  streams.stdin.write('t')
  await says('started its transfer to storage_b:/inbox/.')
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

const nap = defineWorkflow({
  id: 'nap',
  on: 'transfer.completed',
  async run({ step }) {
    await step.sleep('grace', '15m')
    return 'rested'
  },
})

test('in dev, key s ends the sleep of the run that would wake next, says which, and leaves an audit row', async () => {
  const { app, urls, hear } = await startTestApp({ workflows: [nap] })
  const { out, streams, says } = openTerminal()
  onTestFinished(listenForHotKeys(out, devKeys({ app, urls }, out), { leave: () => {} }))
  const { run } = await hear('run.parked')
  streams.stdin.write('s')
  await says(`Skipped the sleep "grace" of nap (${run}), 14 min`)
  expect(await hear('run.completed')).toMatchObject({ run })
  expect(await app.store.findRun(run)).toMatchObject({ output: '"rested"' })
  expect(await app.store.listActions({ limit: 5 })).toMatchObject([{ action: 'run.skip_sleep', target: run }])
  streams.stdin.write('s')
  await says('No run sleeps.')
})

test('in dev, keys h and ? list every key', async () => {
  const { app, urls } = await startTestApp()
  for (const key of ['h', '?']) {
    const { out, streams, says, seen } = openTerminal()
    onTestFinished(listenForHotKeys(out, devKeys({ app, urls }, out), { leave: () => {} }))
    streams.stdin.write(key)
    await says('list the keys')
    for (const each of ['t', 'r', 's', 'f', 'o', 'q', 'h']) expect(seen.stderr).toMatch(new RegExp(`^  ${each}  `, 'm'))
  }
})
