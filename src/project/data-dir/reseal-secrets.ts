import { existsSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { UpshotError } from '../../core/errors.ts'
import type { AuditEntry, Operator } from '../../core/safety/audit.ts'
import { systemClock } from '../../core/time.ts'
import { takeProcessLock } from '../../store/sqlite/database/process-lock.ts'
import { opensDatabase, type Resealed, resealDatabase } from '../../store/sqlite/upkeep/reseal-database.ts'
import { makeVaultKey, parseVaultKey, readVaultKey, syncFile, writeVaultKey } from '../../store/vault.ts'
import type { Config } from '../config/load-config.ts'
import { vaultKeyFile } from './data-files.ts'
import { sqliteOptions } from './open-store.ts'

/**
 * `keyFiles`: paths of the new key and of the old one; null where the key is in the environment.
 */
type ResealedSecrets = Resealed & { keyFiles: { present: string; before: string } | null }

/**
 * Seals all secrets under another key: `given`, or a new one for the key file. A call that was
 * interrupted is finished by the next one; the old key file stays, for backups.
 */
export async function resealSecrets(
  place: Pick<Config, 'dataDir' | 'secretKey'>,
  given: string | null,
  operator: Operator,
): Promise<ResealedSecrets> {
  const action = { action: 'db.reseal', target: null, parameters: {}, at: systemClock.now() }
  const entry: AuditEntry = { ...operator, ...action }
  const { file, vaultKey } = sqliteOptions(place)
  const asked = given === null ? null : parseVaultKey(given, 'The new key')
  if (place.secretKey === null) {
    const keyFile = vaultKeyFile(place)
    return await aloneWith(keyFile, () => resealWithFile(file, keyFile, { present: vaultKey, asked, entry }))
  }
  if (asked !== null) {
    return { ...(await resealDatabase(file, { present: vaultKey, next: asked }, entry)), keyFiles: null }
  }
  throw new UpshotError('invalid_request', 'UPSHOT_SECRET_KEY holds the key, so a new key must be given.', {
    details: {
      fix: 'Give it with --key-file, --key-env or --key-stdin; "openssl rand -base64 32" makes one.',
    },
  })
}

/** Another call would replace the prepared key, and this one would name it as that of the rows. */
async function aloneWith<T>(keyFile: string, reseal: () => Promise<T>): Promise<T> {
  const lock = takeProcessLock(`${keyFile}.lock`)
  if (lock === null) {
    throw new UpshotError('conflict', 'Another "upshot db reseal" is at work.', {
      details: { fix: 'Wait for its end.' },
    })
  }
  try {
    return await reseal()
  } finally {
    lock.release()
  }
}

async function resealWithFile(
  file: string,
  keyFile: string,
  { present, asked, entry }: { present: Buffer; asked: Buffer | null; entry: AuditEntry },
): Promise<ResealedSecrets> {
  const [prepared, before] = [`${keyFile}.next`, `${keyFile}.old`]
  // An earlier call was interrupted between its commit and the rename of the key file.
  const isSealed = existsSync(prepared) && !opensDatabase(file, present) && opensDatabase(file, readVaultKey(prepared))
  if (!isSealed) replaceKey(prepared, asked ?? makeVaultKey())
  const next = readVaultKey(prepared)
  if (asked !== null && !asked.equals(next)) {
    throw new UpshotError('conflict', 'An earlier change of the key was interrupted.', {
      details: { fix: 'Run "upshot db reseal" without a key to finish it.' },
    })
  }
  const resealed = await resealDatabase(file, { present: isSealed ? next : present, next }, entry)
  replaceKey(before, present)
  renameSync(prepared, keyFile)
  syncFile(dirname(keyFile))
  return { ...resealed, keyFiles: { present: keyFile, before } }
}

function replaceKey(file: string, key: Buffer): void {
  rmSync(file, { force: true })
  writeVaultKey(file, key)
}
