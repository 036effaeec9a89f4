import { execFileSync } from 'node:child_process'

interface Component {
  'bom-ref': string
  properties?: { name: string; value: string }[]
}

/** A document of CycloneDX, as `npm sbom` writes it. */
export interface BillOfMaterials {
  components: Component[]
  dependencies: { ref: string; dependsOn: string[] }[]
}

/**
 * Packages that users of the repository at `root` install. `npm sbom --omit dev` leaves those out
 * that a tool of development needs, too; the mark of npm on each component is right.
 */
export function describeMaterials(root: string): BillOfMaterials {
  const text = execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 << 20,
  })
  const all: BillOfMaterials = JSON.parse(text)
  const left = new Set(all.components.filter(isForDevelopment).map((component) => component['bom-ref']))
  return {
    ...all,
    components: all.components.filter((component) => !left.has(component['bom-ref'])),
    dependencies: all.dependencies
      .filter(({ ref }) => !left.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => !left.has(each)) })),
  }
}

function isForDevelopment({ properties = [] }: Component): boolean {
  return properties.some(({ name, value }) => name === 'cdx:npm:package:development' && value === 'true')
}
