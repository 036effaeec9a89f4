import type { Command } from '@commander-js/extra-typings'
import { refuse } from '../../../core/errors.ts'
import { adoptEnvFile, processEnvironment } from '../../../project/config/environment.ts'
import { type Explained, explainConfig } from '../../../project/config/explain-config.ts'
import type { Cli } from '../../command.ts'
import { call } from '../../open/operations.ts'
import { type Column, formatTable } from '../../terminal/table.ts'

export function define(command: Command, { out, project }: Cli): void {
  command.option('--origins', 'also show the source of each value').action(async ({ origins = false }) => {
    if (await project.isFar()) {
      if (origins) throw refuse('A server shows its settings, but not where each comes from.', WITHOUT_ORIGINS)
      const { items } = await project.withOperations((operations) => call(operations, 'GET /config', {}))
      return out.result(items, () => formatTable(items, COLUMNS, out))
    }
    const { root, configFile } = project
    const adopted = adoptEnvFile(root)
    const settings = await explainConfig(processEnvironment(), root, { configFile, adopted })
    const shown = origins ? settings : settings.map(({ setting, value }) => ({ setting, value }))
    out.result(shown, () => formatTable(settings, origins ? [...COLUMNS, ...ORIGINS] : COLUMNS, out))
    out.note('Order of precedence: option, environment, .env, project file, default.')
  })
}

const WITHOUT_ORIGINS = 'Leave out --origins, or run it on the machine of the app, without --server and UPSHOT_SERVER.'

const COLUMNS: Column<Pick<Explained, 'setting' | 'value'>>[] = [
  { title: 'SETTING', value: ({ setting }) => setting },
  { title: 'VALUE', value: ({ value }) => value, most: 80 },
]

const ORIGINS: Column<Explained>[] = [
  { title: 'ORIGIN', value: ({ origin }) => origin, style: ({ origin }) => (origin === 'default' ? 'dim' : 'green') },
  { title: 'FROM', value: ({ from }) => from },
]
