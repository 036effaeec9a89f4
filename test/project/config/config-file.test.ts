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
  await expect(loadConfigFile(writeConfig(given))).rejects.toThrow(/publicUrl: should be the https address/)
})

function writeConfig(publicUrl: string): string {
  const file = join(tempFolder(), 'upshot.config.ts')
  writeFileSync(file, `export default ${JSON.stringify({ publicUrl })}`)
  return file
}
