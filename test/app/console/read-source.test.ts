import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { readSource } from '../../../src/app/console/read-source.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const CODE = Array.from({ length: 20 }, (_, index) => `line ${index + 1}`).join('\n')

function writeAll(folder: string, ...files: string[]): string[] {
  return files.map((file) => {
    const path = join(folder, file)
    mkdirSync(join(path, '..'), { recursive: true })
    writeFileSync(path, CODE)
    return path
  })
}

test('a frame gets the lines around its place, by path and by URL, whatever the name of its function', async () => {
  const folder = tempFolder()
  const [module = ''] = writeAll(folder, 'with space/a.workflow.ts')
  const frames = [`Object.run [as x] (${module}:10:7)`, `async ${pathToFileURL(module)}:2:1`, `${module}:20`]
  const places = await readSource(folder, frames)
  expect(places.map(({ file, line, from, lines }) => [file, line, from, lines.length])).toEqual([
    ['with space/a.workflow.ts', 10, 5, 11],
    ['with space/a.workflow.ts', 2, 1, 7],
    ['with space/a.workflow.ts', 20, 15, 6],
  ])
  expect(places[0]).toMatchObject({ frame: frames[0], lines: expect.arrayContaining(['line 5', 'line 15']) })
})

test('nothing is read outside of the folder, through a link, of packages, or of what is no module', async () => {
  const [folder, outside] = [tempFolder(), tempFolder()]
  const [secret = ''] = writeAll(outside, 'secret.ts')
  symlinkSync(secret, join(folder, 'linked.ts'))
  symlinkSync(outside, join(folder, 'folder'))
  const own = writeAll(folder, '.env', '.env.ts', 'keys.json', 'a.pem', 'node_modules/x/index.js', '.git/hook.js')
  const others = ['linked.ts', 'folder/secret.ts', 'gone.ts', '../secret.ts', '.'].map((name) => join(folder, name))
  const paths = [secret, `${folder}/../${secret.split('/').at(-2)}/secret.ts`, '/etc/passwd', ...own, ...others]
  const frames = paths.flatMap((path) => [`${path}:1:1`, `f (file://${path}:1:1)`])
  expect(await readSource(folder, [...frames, 'no place', `${join(folder, 'a.ts')}:99999`])).toEqual([])
  expect(await readSource(join(folder, 'no-such-folder'), frames)).toEqual([])
})
