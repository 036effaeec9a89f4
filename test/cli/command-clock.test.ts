import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'

const COMMANDS = resolve(import.meta.dirname, '../../src/cli/commands')

/** Commands beside no shared database: sandbox, rehearsals, and facts of this machine. */
const OF_THE_MACHINE = /^(sandbox|app\/rehearse)\/|^doctor\/check-service\.ts$/

test('commands act by the clock that all processes of the database share', () => {
  const files = readdirSync(COMMANDS, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
  const others = files.filter((file) => !OF_THE_MACHINE.test(file))
  expect(others.length).toBeGreaterThan(70)
  const byMachine = others.filter((file) =>
    /systemClock|Date\.now\(\)/.test(readFileSync(join(COMMANDS, file), 'utf8')),
  )
  expect(byMachine).toEqual([])
})
