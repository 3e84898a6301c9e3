import { App } from 'aws-cdk-lib';
import { BlogsStack } from './blogs-stack';

new BlogsStack(new App(), 'KeyspacesBlogs');
