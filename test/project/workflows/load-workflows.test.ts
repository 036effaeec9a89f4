import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hashModule } from '../../../src/project/workflows/hash-module.ts'
import { loadWorkflows } from '../../../src/project/workflows/load-workflows.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { moduleOf } from '../support/workflows-folder.ts'

test('a module that redefines a key is broken and breaks no other module', async () => {
  const folder = tempFolder()
  const core = join(import.meta.dirname, '../../../src/author/index.ts')
  const module = (id: string, key: string) => `
    import { defineEvent, defineWorkflow, z } from '${core}'
    const on = defineEvent('clash.test', { data: z.looseObject({}), keys: { thing: ${key} } })
    export default defineWorkflow({ id: '${id}', on, run: () => null })`
  writeFileSync(join(folder, 'a.workflow.ts'), module('a', '(d) => d.one as string'))
  writeFileSync(join(folder, 'b.workflow.ts'), module('b', '(d) => d.two as string'))
  writeFileSync(join(folder, 'c.workflow.ts'), module('c', '(d) => d.one as string'))
  const modules = await loadWorkflows(folder)
  expect(modules).toMatchObject([
    { kind: 'loaded', workflow: { id: 'a', codeHash: expect.stringMatching(/^[0-9a-f]{16}$/) } },
    { kind: 'broken', file: 'b.workflow.ts', error: { code: 'invalid_workflow' } },
    { kind: 'loaded', workflow: { id: 'c' } },
  ])
})

test('a module that never comes to its end is left out after its time, and holds up no other', async () => {
  const folder = tempFolder()
  writeFileSync(join(folder, 'a.workflow.ts'), 'await new Promise(() => {})')
  writeFileSync(join(folder, 'b.workflow.ts'), moduleOf('b', '1'))
  const loading: unknown[] = []
  const modules = await loadWorkflows(folder, {
    maxMs: 1_500,
    onLoading: (module) => loading.push(module?.file ?? null),
  })
  const why = 'The module is skipped: it was not loaded within 1.5 s. At the top level of a module, define things only'
  expect(modules).toMatchObject([
    { kind: 'broken', file: 'a.workflow.ts', error: { message: expect.stringContaining(why) } },
    { kind: 'loaded', workflow: { id: 'b' } },
  ])
  expect(loading).toEqual(['a.workflow.ts', 'b.workflow.ts', null])
})

test('a module that did harm is left out until its code is another', async () => {
  const folder = tempFolder()
  const file = 'a.workflow.ts'
  writeFileSync(join(folder, file), moduleOf('a', '1'))
  const skipped = [{ file, code: await hashModule(join(folder, file)), why: 'it ended the engine' }]
  const message = expect.stringMatching(/^The module is skipped: it ended the engine\. .* into a step\.$/)
  expect(await loadWorkflows(folder, { skipped })).toMatchObject([{ kind: 'broken', file, error: { message } }])
  writeFileSync(join(folder, file), moduleOf('a', '2'))
  expect(await loadWorkflows(folder, { skipped })).toMatchObject([{ kind: 'loaded', file }])
})
