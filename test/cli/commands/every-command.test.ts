import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { sqliteOptions } from '../../../src/project/data-dir/open-store.ts'
import { openSqliteStore } from '../../../src/store/sqlite/open-sqlite-store.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { COMMANDS } from '../support/command-names.ts'
import { runHere } from '../support/run-here.ts'

/** Arguments with which a command works, or refuses to, without a running app. */
const ARGUMENTS: Record<string, string[]> = {
  init: ['--dry-run', '/nowhere/project'],
  trigger: ['file.created'],
  completion: ['fish'],
  'endpoints add': ['shop'],
  'runs show': ['run_none'],
  'files ls': ['storage_a:/'],
  'files diff': ['storage_a:/', 'storage_b:/'],
  'files get': ['storage_a:/a.txt'],
  'files rm': ['storage_a:/a.txt', '--yes'],
  'files url': ['storage_a:/a.txt'],
  'db backup': ['/nowhere/backup.db'],
}

/** Commands that run until they are stopped. They get an unknown option here. */
const ENDLESS = /^(dev|sandbox start|(runs|events) tail)$/

test.each(COMMANDS)('"%s" prints its help and its usage errors as one JSON document', async (command) => {
  const run = (option: string) => runHere(tempFolder(), [...command.split(' '), option, '--json'])
  const help = await run('--help')
  expect(help).toMatchObject({ exit: 0, stderr: '' })
  expect(help.json).toMatchObject({ ok: true, data: { text: expect.stringContaining(`Usage: upshot ${command}`) } })
  const { text } = help.json.data
  expect(text.split('\n').filter((line: string) => line.length > 100)).toEqual([])
  expect(text).not.toMatch(/\(default: (""|\[\])\)|\(default: [^)]*\)\s*\(default/)
  const wrong = await run('--nonsense')
  expect(wrong).toMatchObject({ exit: 2, stderr: '' })
  expect(wrong.json).toMatchObject({ ok: false, error: { code: 'usage' } })
})

test.each(COMMANDS)('"%s" prints one JSON document under --json, and lines of JSON under --ndjson', async (command) => {
  const env = { UPSHOT_ADMIN_PORT: '0', UPSHOT_SANDBOX_PORT: '0', UPSHOT_SANDBOX_DOWNLOAD_PORT: '0' }
  const dataDir = tempFolder()
  const run = (form: string) => runHere(dataDir, [...command.split(' '), ...args, form], { env })
  const args = ENDLESS.test(command) ? ['--nonsense'] : (ARGUMENTS[command] ?? [])
  const { exit, stdout, stderr } = await run('--json')
  const document = JSON.parse(stdout)
  expect(stdout.trimEnd().split('\n')).toHaveLength(1)
  expect(document).toMatchObject(
    document.ok
      ? { ok: true, data: expect.anything() }
      : { error: { code: expect.any(String), fix: expect.any(String) } },
  )
  expect(stderr).toBe('')
  // 7 is the exit code of a result that reports a difference.
  expect(document.ok ? [0, 7] : [1, 2, 3, 4, 5, 6, 130]).toContain(exit)

  const lines = (await run('--ndjson')).stdout.split('\n').slice(0, -1)
  for (const line of lines) JSON.parse(line)
})

/** Commands that read no row. `doctor` and `db verify` report the schema. */
const APART = ['init', 'doctor', 'config show', 'db verify', 'completion', 'version']

test('no command works with a database of a newer version, and each says what to do', async () => {
  const dataDir = tempFolder()
  const { file, vaultKey } = sqliteOptions({ dataDir, secretKey: null })
  await openSqliteStore({ file, vaultKey }).close()
  const db = new Database(file)
  db.pragma('user_version = 99')
  const before = db.serialize()
  const worked: string[] = []
  const refused: string[] = []
  for (const command of COMMANDS) {
    if (ENDLESS.test(command)) continue
    const { json } = await runHere(dataDir, [...command.split(' '), ...(ARGUMENTS[command] ?? []), '--json'])
    if (json.ok) worked.push(command)
    else if (json.error.message.includes('The database has schema 99, and this Upshot only knows')) {
      expect(json.error.fix).toContain('Start the newer Upshot.')
      refused.push(command)
    }
  }
  expect(worked).toEqual(APART)
  expect(refused).toEqual(expect.arrayContaining(['runs list', 'db migrate', 'db backup', 'effects verify', 'plan']))
  expect(refused.length).toBeGreaterThan(30)
  expect(db.serialize().equals(before)).toBe(true)
  db.close()
})
