import { useProject } from "../../api/account";
import type { ProjectExtra } from "../../api/account-types";
import { asRole, mayWrite } from "../../model/roles";
import { PageHead } from "../../parts/Page";
import { SettingsTabs } from "../../parts/SettingsTabs";
import { Files } from "./Files";
import { HowTo } from "./HowTo";
import { MissingUploads } from "./MissingUploads";
import { TryTrace } from "./TryTrace";

export function SymbolsPage() {
  const project = useProject();
  if (!project) return null;
  return <Body key={project.id} project={project} />;
}

function Body({ project }: { project: ProjectExtra }) {
  return (
    <>
      <PageHead
        title="Symbols"
        sub="Debug files and source maps turn addresses and minified names into functions, files and lines."
      />
      <SettingsTabs />
      <div className="space-y-4 px-4 pb-8">
        <MissingUploads />
        <Files writes={mayWrite(asRole(project.role))} />
        <HowTo project={project} />
        <TryTrace />
      </div>
    </>
  );
}
