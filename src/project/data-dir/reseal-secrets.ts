import { existsSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { UpshotError } from '../../core/errors.ts'
import { opensDatabase, type Resealed, resealDatabase } from '../../store/sqlite/upkeep/reseal-database.ts'
import { syncFile } from '../../store/sync-file.ts'
import { makeVaultKey, parseVaultKey, readVaultKey, writeVaultKey } from '../../store/vault.ts'
import type { Config } from '../config/load-config.ts'
import { keyFileOf, locateDatabase } from './open-store.ts'

/** `keyFiles` is null where the key is not ours to keep. */
export type ResealedSecrets = Resealed & { keyFiles: { present: string; before: string } | null }

/**
 * Seals the secrets of the project's database under another key: the one in `given`, or in the data
 * directory's key file one that is made for it. The file's old key stays beside it, for backups.
 * Cut off anywhere, it is finished by doing it again.
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
  const isSealed = existsSync(prepared) && !opensDatabase(file, present) && opensDatabase(file, readVaultKey(prepared))
  if (!isSealed) replaceKey(prepared, asked ?? makeVaultKey())
  const next = readVaultKey(prepared)
  if (asked !== null && !asked.equals(next)) {
    throw new UpshotError('conflict', 'Sealing under another key was cut off here before.', {
      details: { fix: 'Run "upshot db reseal" without a key first: it finishes that.' },
    })
  }
  const resealed = resealDatabase(file, { present: isSealed ? next : present, next })
  replaceKey(before, present)
  renameSync(prepared, keyFile)
  syncFile(dirname(keyFile))
  return { ...resealed, keyFiles: { present: keyFile, before } }
}

function replaceKey(file: string, key: Buffer): void {
  rmSync(file, { force: true })
  writeVaultKey(file, key)
}
