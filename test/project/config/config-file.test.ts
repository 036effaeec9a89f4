import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadConfigFile } from '../../../src/project/config/config-file.ts'
import { tempFolder } from '../../support/temp-folder.ts'

test.each([
  ['https://hooks.example.com', 'https://hooks.example.com'],
  ['https://hooks.example.com/in//', 'https://hooks.example.com/in'],
  ['https://HOOKS.example.com:8443/#', 'https://hooks.example.com:8443'],
  ['http://localhost:4700/', 'http://localhost:4700'],
])('the public address %s of a project file is read as %s', async (given, publicUrl) => {
  expect(await loadConfigFile(writeConfig(given))).toMatchObject({ publicUrl })
})

test.each([
  'http://hooks.example.com',
  'hooks.example.com',
  'https://me:word@hooks.example.com',
  'https://a.com/?x=1',
  'ftp://a.com',
])('the public address of a project file must not be %s', async (given) => {
  await expect(loadConfigFile(writeConfig(given))).rejects.toThrow(
    /^[^\n]*\n {2}publicUrl: should be the https address[^\n]*$/,
  )
})

test.each([
  [{ drain: '1 second' }, /drain: must be a duration/],
  [{ drain: -1 }, /drain: must be a duration/],
  [{ files: { burst: 0 } }, /files\.burst/],
  [{ files: { burst: { shop: 1.5 } } }, /files\.burst\.shop: Invalid input: expected int/],
  [{ reconcile: { storage_z: {} } }, /reconcile\.storage_z: must be storage_a, /],
  [{ reconcile: { storage_a: { budget: 'much' } } }, /reconcile\.storage_a\.budget: must be a share such as "10%"/],
  [{ alerts: { channels: { 'a b': { kind: 'slack', url: '$A' } } } }, /alerts\.channels\.a b: (?!Invalid)/],
  [{ retention: { runs: 'always' } }, /retention\.runs: must be a duration such as "30d", or "forever"/],
  [{ retention: { payloads: 9e15 } }, /retention\.payloads: must be a duration/],
  [{ retention: { files: '59d' } }, /retention\.files: must be at least 60d/],
  [{ reconcile: { storage_a: { grace: '31d' } } }, /reconcile\.storage_a\.grace: must be at most 30d/],
])('a project file with %j is refused by the name of the setting', async (content, message) => {
  await expect(loadConfigFile(writeFile(content))).rejects.toThrow(message)
})

const writeConfig = (publicUrl: string) => writeFile({ publicUrl })

function writeFile(content: object): string {
  const file = join(tempFolder(), 'upshot.config.ts')
  writeFileSync(file, `export default ${JSON.stringify(content)}`)
  return file
}

test('a project file without a default export says what to write', async () => {
  const file = join(tempFolder(), 'upshot.config.ts')
  writeFileSync(file, 'export const slots = 5')
  await expect(loadConfigFile(file)).rejects.toMatchObject({
    message: expect.stringMatching(/has no default export\.$/),
    details: { fix: expect.stringContaining('export default defineConfig') },
  })
})
