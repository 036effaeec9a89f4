import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { writeApi } from '../../packaging/docs-api/main.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { ROOT } from './pages.ts'

function readFolder(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.md'))
  return Object.fromEntries(files.sort().map((file) => [file, readFileSync(join(folder, file), 'utf8')]))
}

test('the API reference is what `npm run docs:api` writes from the doc comments now', async () => {
  const folder = join(tempFolder(), 'api')
  await writeApi(folder)
  expect(readFolder(join(ROOT, 'docs/api'))).toEqual(readFolder(folder))
})
