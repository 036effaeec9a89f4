import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hashModule } from '../../../src/project/workflows/hash-module.ts'
import { tempFolder } from '../../support/temp-folder.ts'

test('the hash of a module changes with the project files that it imports', async () => {
  const folder = tempFolder()
  mkdirSync(join(folder, 'lib'))
  const write = (file: string, text: string) => writeFileSync(join(folder, file), text)
  write('a.workflow.ts', `import { x } from './lib/x.ts'\nexport default x`)
  write('lib/x.ts', `export { x } from '../y.ts'\nconst later = () => import('./z.ts')\nvoid later`)
  write('y.ts', `import './a.workflow.ts'\nexport const x = 1`)
  write('lib/z.ts', 'export {}')
  const file = join(folder, 'a.workflow.ts')
  const hashes = [await hashModule(file)]
  for (const changed of ['y.ts', 'lib/z.ts']) {
    write(changed, `export const x = '${changed}'`)
    hashes.push(await hashModule(file))
  }
  expect(new Set(hashes).size).toBe(3)
  expect(await hashModule(file)).toBe(hashes.at(-1))
})

test('the hash of a module changes when two imported files swap contents, not with its folder', async () => {
  const hashIn = async (first: string, second: string) => {
    const folder = tempFolder()
    writeFileSync(join(folder, 'a.workflow.ts'), `import './x.ts'\nimport './y.ts'`)
    writeFileSync(join(folder, 'x.ts'), first)
    writeFileSync(join(folder, 'y.ts'), second)
    return hashModule(join(folder, 'a.workflow.ts'))
  }
  expect(await hashIn('one', 'two')).toBe(await hashIn('one', 'two'))
  expect(await hashIn('one', 'two')).not.toBe(await hashIn('two', 'one'))
})
