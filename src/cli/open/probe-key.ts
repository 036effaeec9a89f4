import { deriveProbeKey } from '../../core/incoming/probe-mark.ts'
import type { Config } from '../../project/config/load-config.ts'
import { storeOptions } from '../../project/data-dir/open-store.ts'

/** The key of the marks on probes, which the running app shares through its data directory. */
export function probeKeyOf(config: Config): Buffer {
  return deriveProbeKey(storeOptions(config).vaultKey)
}
