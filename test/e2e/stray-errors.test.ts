import { expect, test } from 'vitest'
import { DOOR } from '../support/program.ts'
import { startProcess } from '../support/start-process.ts'

const workflow = (id: string, run: string) => `import { defineWorkflow } from '${DOOR}'
const pause = () => new Promise((resolve) => setTimeout(resolve, 50))
export default defineWorkflow({ id: '${id}', on: '*', retry: { attempts: 1 }, run: async ({ step }) => { ${run} } })`

const fail = `() => { throw new Error('no') }, { retry: { attempts: 1 } }`

test('a step promise that rejects before it is awaited ends neither its run nor the process', async () => {
  const started = startProcess({
    'early.workflow.ts': workflow(
      'early',
      `const first = step.run('first', ${fail})
       await pause()
       await step.run('second', () => 2)
       return first.catch((error) => error.name)`,
    ),
  })
  await started.line((line) => line.message === 'run completed' && line.workflow === 'early')
  started.child.kill('SIGTERM')
  expect(await started.exited).toEqual({ code: 0, signal: null })
  expect(started.lines.filter(({ level }) => level === 'error')).toEqual([])
})

test('an error that nothing awaits fails the run whose code it comes from, and the process goes on', async () => {
  const started = startProcess({
    'timer.workflow.ts': workflow(
      'timer',
      `setTimeout(() => { throw new Error('from a timer') }, 5); await step.run('a', pause); await pause()`,
    ),
    'rejection.workflow.ts': workflow(
      'rejection',
      `void pause().then(() => { throw new Error('from a promise') }); await pause(); await pause()`,
    ),
    'hello.workflow.ts': workflow('hello', `await pause(); await pause(); return step.run('greet', () => 'hello')`),
  })
  const failed = await Promise.all(
    ['timer', 'rejection'].map((id) => started.line((line) => line.message === 'run failed' && line.workflow === id)),
  )
  expect(failed.map(({ err }) => (err as Error).message)).toEqual(['from a timer', 'from a promise'])
  const faults = started.lines.filter(({ level, where }) => level === 'error' && where !== undefined)
  for (const { run } of failed)
    expect(faults.map(({ where }) => where)).toContain(`code of run ${run} that nothing awaits`)
  await started.line((line) => line.message === 'run completed' && line.workflow === 'hello')
  started.child.kill('SIGTERM')
  expect(await started.exited).toEqual({ code: 0, signal: null })
})

test('process.abort in a workflow fails its run, because a thread cannot end the process by it', async () => {
  const started = startProcess({
    'abort.workflow.ts': workflow('abort', `await step.run('a', () => process.abort(), { retry: { attempts: 1 } })`),
    'hello.workflow.ts': workflow('hello', `return step.run('greet', () => 'hello')`),
  })
  const failed = await started.line((line) => line.message === 'run failed' && line.workflow === 'abort')
  expect((failed.err as Error).message).toContain('process.abort() is not supported in workers')
  await started.line((line) => line.message === 'run completed' && line.workflow === 'hello')
  started.child.kill('SIGTERM')
  expect(await started.exited).toEqual({ code: 0, signal: null })
})
