import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Config } from './config.ts'
import { UpshotError } from './core/errors.ts'
import { keyFileOf, locateDatabase } from './locate-database.ts'
import { opensDatabase, type Resealed, resealDatabase } from './store/sqlite/reseal-database.ts'
import { formatVaultKey, makeVaultKey, parseVaultKey } from './store/vault.ts'

export type { Resealed } from './store/sqlite/reseal-database.ts'

/** `keyFiles` is null where the key is not ours to keep. */
export type ResealedSecrets = Resealed & { keyFiles: { present: string; before: string } | null }

/**
 * Seals the secrets of the project's database under another key: the one in `given`, or in the data directory's key file one that
 * is made for it. The file's old key stays beside it, for backups. Cut off anywhere, it is finished by doing it again.
 */
export function resealSecrets(place: Pick<Config, 'dataDir' | 'secretKey'>, given: string | null): ResealedSecrets {
  const { file, vaultKey } = locateDatabase(place)
  const asked = given === null ? null : parseVaultKey(given, 'The new key')
  if (place.secretKey === null) return resealWithFile(file, keyFileOf(place), { present: vaultKey, asked })
  if (asked !== null) return { ...resealDatabase(file, { present: vaultKey, next: asked }), keyFiles: null }
  throw new UpshotError('invalid_request', 'The key is in UPSHOT_SECRET_KEY, and no new one is named.', {
    details: {
      fix: 'Name the new one with --key-file, --key-env or --key-stdin: "openssl rand -base64 32" makes one.',
    },
  })
}

function resealWithFile(
  file: string,
  keyFile: string,
  { present, asked }: { present: Buffer; asked: Buffer | null },
): ResealedSecrets {
  const [prepared, before] = [`${keyFile}.next`, `${keyFile}.old`]
  // Sealed already, when the one before was cut off between the commit and the change of files.
  const isSealed = existsSync(prepared) && !opensDatabase(file, present) && opensDatabase(file, readKey(prepared))
  if (!isSealed) writeKey(prepared, asked ?? makeVaultKey())
  const next = readKey(prepared)
  if (asked !== null && !asked.equals(next)) {
    throw new UpshotError('conflict', 'Sealing under another key was cut off here before.', {
      details: { fix: 'Run "upshot db reseal" without a key first: it finishes that.' },
    })
  }
  const resealed = resealDatabase(file, { present: isSealed ? next : present, next })
  writeKey(before, present)
  renameSync(prepared, keyFile)
  syncFolder(dirname(keyFile))
  return { ...resealed, keyFiles: { present: keyFile, before } }
}

function readKey(file: string): Buffer {
  return parseVaultKey(readFileSync(file, 'utf8'), file)
}

/** On disk when it returns, its name included: nothing else can open what is sealed with it. */
function writeKey(file: string, key: Buffer): void {
  rmSync(file, { force: true })
  writeFileSync(file, formatVaultKey(key), { mode: 0o600, flag: 'wx', flush: true })
  syncFolder(dirname(file))
}

function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r')
  fsyncSync(handle)
  closeSync(handle)
}
