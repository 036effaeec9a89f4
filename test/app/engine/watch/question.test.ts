import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import { Question } from '../../../../src/app/engine/watch/question.ts'

test.each([
  ['that the thread gives is passed on', `return { run: 'run_1', place: null }`, { run: 'run_1', place: null }],
  ['is nobody’s where V8 lets no code run just then', `throw 'illegal access'`, null],
])('an answer %s', async (_about, answer, expected) => {
  const code = `globalThis[Symbol.for('upshot.codeAtWork')] = () => { ${answer} }
    require('node:worker_threads').parentPort.on('message', () => {}).postMessage('ready')`
  const worker = new Worker(code, { eval: true })
  onTestFinished(async () => void (await worker.terminate()))
  await once(worker, 'message')
  using question = new Question(worker.threadId)
  expect(await question.ask('codeAtWork')).toEqual(expected)
})
