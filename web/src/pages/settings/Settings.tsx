import { useProject } from "../../api/account";
import type { ProjectExtra } from "../../api/account-types";
import { asRole, mayManage, mayWrite } from "../../model/roles";
import { PageHead, Section } from "../../parts/Page";
import { SettingsTabs } from "../../parts/SettingsTabs";
import { CodeHost } from "./CodeHost";
import { ContentFlags } from "./ContentFlags";
import { Danger } from "./Danger";
import { DataCapture } from "./DataCapture";
import { General } from "./General";
import { GroupingRules } from "./GroupingRules";
import { Healthchecks } from "./Healthchecks";
import { Origins, Quota } from "./Quota";
import { Recordings } from "./Recordings";
import { Retention } from "./Retention";
import { Sampling } from "./Sampling";
import { ProjectTokens } from "./Tokens";

export function SettingsPage() {
  const project = useProject();
  if (!project) return null;
  return <Body key={project.id} project={project} />;
}

function Body({ project }: { project: ProjectExtra }) {
  const role = asRole(project.role);
  const readonly = !mayWrite(role);
  return (
    <>
      <PageHead
        title="Settings"
        sub={
          readonly
            ? `Project ${project.name}. You may read it; changing takes another role.`
            : `Project ${project.name}`
        }
      />
      <SettingsTabs />
      <div className="max-w-3xl space-y-4 px-4 pb-8">
        <Section title="General">
          <General project={project} readonly={readonly} />
        </Section>
        <Section title="Tokens">
          <ProjectTokens project={project} manages={mayManage(role)} />
        </Section>
        <Section title="What is stored">
          <DataCapture project={project} readonly={readonly} />
        </Section>
        <Section title="Flagged words in AI conversations">
          <ContentFlags project={project} readonly={readonly} />
        </Section>
        <Section title="Grouping of exceptions">
          <GroupingRules readonly={readonly} />
        </Section>
        <Section title="Links to the code">
          <CodeHost project={project} readonly={readonly} />
        </Section>
        <Section title="Session recordings">
          <Recordings project={project} readonly={readonly} manages={mayManage(role)} />
        </Section>
        <Section title="Health checks">
          <Healthchecks project={project} readonly={readonly} />
        </Section>
        <Section title="Sampling">
          <Sampling project={project} readonly={readonly} />
        </Section>
        <Section title="How much may be sent">
          <Quota project={project} readonly={readonly} />
          <Origins project={project} readonly={readonly} />
        </Section>
        <Section title="How long it is kept">
          <Retention project={project} readonly={readonly} />
        </Section>
        {mayManage(role) && (
          <Section title="Delete">
            <Danger project={project} />
          </Section>
        )}
      </div>
    </>
  );
}
