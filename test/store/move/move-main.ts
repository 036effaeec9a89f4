import { moveToPostgres } from '../../../src/store/move/move-to-postgres.ts'

/** Moves a database in a process that its test may kill. */
const [file = '', url = '', schema = '', key = ''] = process.argv.slice(2)
const target = { hosts: [{ connectionString: url }], schema, vaultKey: Buffer.from(key, 'hex') }
process.stdout.write('begun\n')
await moveToPostgres(file, target, { now: Date.now(), onProgress: () => {} })
