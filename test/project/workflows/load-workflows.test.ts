import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadWorkflows } from '../../../src/project/workflows/load-workflows.ts'
import { tempFolder } from '../../support/temp-folder.ts'

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
